"""envscaler: from ordinary user requests to executable tool environments with rewards that are tested by execution.

The flow is `tasks → themes → skeletons → audits → scenarios → rollouts → figures`; each word is a module. The names
below are the public face, imported from their modules when they are first used, so that `import envscaler` stays
light: torch, umap, openai and matplotlib are loaded by the calls that need them.
"""

import importlib
from collections.abc import Iterable
from typing import Any

from envscaler.world.sandbox import trust

__version__ = "0.1.0"

_HOMES = {
    "schema": "Attribute Audit Call Certificate Check Entity Failure Finding Outcome Probe Record Rollout Rule "
    "Scenario Skeleton Step Task Theme Tool Usage",
    "store": "Records read_records write_records",
    "run": "Run open_run",
    "model.ask": "ask",
    "model.budget": "Ledger",
    "model.connect": "connect connect_encoder",
    "tasks": "add_labels load_tasks judge_task judge_tasks",
    "themes": "infer_theme infer_themes merge_themes pick_themes",
    "skeletons": "build_skeleton build_skeletons load_skeleton",
    "audits": "against_truth audit_skeleton audit_skeletons passing",
    "auditing.calibration": "calibrate_audits",
    "auditing.probing": "judge_by",
    "auditing.repair": "mend_skeletons",
    "scenarios": "build_scenario build_scenarios",
    "posing.catching": "mistake_table try_mistakes",
    "posing.completing": "complete_scenarios revision_table yield_table",
    "rollouts": "roll_out_all",
    "episode": "roll_out",
    "agent": "PromptAgent SchemaAgent ToolAgent",
    "acting.user_faults": "user_fault_table user_faults",
    "scripted": "CarelessAgent IdleAgent RandomAgent WitnessAgent",
    "searching.search": "search_witness with_witness",
    "certifying.many": "certify_all",
    "world.environment": "Environment",
    "world.referee": "check_environment",
    "world.check": "grade",
    "world.regrade": "regrade",
    "world.certificate": "certify",
    "world.proving.binding": "binding_rules",
    "world.proving.queries": "counting_queries",
    "release.corpus": "load_corpus save_corpus",
    "training.picking": "filter_funnel pick_trajectories",
    "training.rewarding": "reward_function",
    "training.saving": "save_sft",
    "show.accounts": "account_table cost_table draw_accounts estimate",
    "show.agreement": "agreement",
    "show.comparing": "draw_hardness ending_table environment_share hardness_frame hardness_table pass_table "
    "permutation_table",
    "show.depth": "depth_finding depth_frame depth_table",
    "show.detection": "detection_table draw_detection false_alarm_table",
    "show.diversity": "diversity_frame draw_benchmark_similarity draw_diversity duplicate_tasks similarity_to "
    "tool_overlap",
    "show.inspector": "AuditInspector",
    "show.player": "EpisodePlayer",
    "show.playground": "Playground",
    "show.report": "write_report",
    "show.view": "listing rollout_card scenario_card",
    "figures": "draw_corpus draw_funnel draw_main_results draw_outcomes draw_theme_map draw_win_rates paper_items "
    "save_figure",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = ["__version__", *_HOME_OF]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"envscaler has no {name!r}; it has {', '.join(sorted(_HOME_OF))}.")
    value = getattr(importlib.import_module(f"envscaler.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def _vouch() -> Iterable[str]:
    # The wings do not know each other; here is where what one of them writes is made known to the other.
    return importlib.import_module("envscaler.model.connect").builtin_sources()


trust.vouchers.append(_vouch)
