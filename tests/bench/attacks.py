"""What hostile code comes to: every attack of `tests/hostile.py` in every place, one JSON object a line.

    python tests/bench/attacks.py

`value` counts effects outside (must be 0); `came` says in a few words what the attack ran into.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hostile import ATTACKS, PLACES, Outside, attack, next_episode

import envscaler.world.live
from envscaler.world.sandbox import isolation_in_use


def came(said: dict[str, Any]) -> str:
    """What an attack ran into, in a few words."""
    if "error" in said:
        return str(said["error"])
    observation, _, _, _, info = said["step"]
    faults = [f"{fault['kind']}: {fault['error']}" for fault in info["faults"]]
    notes = [outcome.note for outcome in said["last"][4]["outcomes"] if outcome.note]
    return "; ".join(faults + notes) or f"done, no effect: {observation[0]['content']}"


def main() -> None:
    """Try them all."""
    envscaler.world.live._LOADING = 0.4
    outside, through, sound = Outside(), Counter[str](), 0
    try:
        for name, statements in ATTACKS.items():
            for place in PLACES:
                said = attack(place, statements, outside)
                effects = outside.effects(said) + (["paid"] if said.get("reward") else [])
                through[place] += bool(effects)
                sound += next_episode() == 1.0
                told = {"value": len(effects), "unit": "effects", "came": came(said)[:160], "did": effects}
                print(json.dumps({"bench": "attacks", "metric": f"{name} in {place}", **told}), flush=True)
    finally:
        outside.close()
    tried = len(ATTACKS) * len(PLACES)
    sealed = {"metric": "sealed", "value": float(isolation_in_use() == "sealed"), "unit": "yes=1"}
    summary = [sealed, {"metric": "attacks tried", "value": tried, "unit": "attacks"}]
    summary += [{"metric": f"through in {p}", "value": through[p], "unit": "attacks"} for p in PLACES]
    summary += [{"metric": "next episode sound", "value": sound, "unit": "episodes"}]
    for line in summary:
        print(json.dumps({"bench": "attacks", **line}))


if __name__ == "__main__":
    main()
