"""What trainers make of a file of training data, by their own loaders: the calls of each episode, and its text.

    python loaders.py trl FILE FOLDER            needs trl
    python loaders.py grpo FILE FOLDER           needs trl, and this library
    python loaders.py llamafactory FILE FOLDER   needs llamafactory, whose pins exclude ours: a Python of its own

It is written to `loaded.json` in the folder. Of a file it is an object an episode: `calls` (a list a message, of names
and arguments), `tools`, `replies`, `text` (all that a model is shown) and `learnt` (what of it counts in the loss).
"""

import importlib.machinery
import json
import re
import sys
import types
from pathlib import Path
from typing import Any

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def tokenizer() -> Any:
    """A token a byte, so that what is decoded is what was encoded."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({letter: n for n, letter in enumerate(letters)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(SPECIAL)
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token=SPECIAL[2],
        pad_token=SPECIAL[0],
        additional_special_tokens=SPECIAL[1:2],
    )


def small_model() -> Any:
    from transformers import Qwen3Config, Qwen3ForCausalLM

    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    return Qwen3ForCausalLM(
        Qwen3Config(vocab_size=len(tokenizer()), num_key_value_heads=1, head_dim=8, **sizes)
    )


def told(text: str, learnt: str) -> dict[str, Any]:
    """What a model is shown, read back: the calls of each assistant message and the tools."""
    said = re.findall(r"<\|im_start\|>assistant\n(.*?)<\|im_end\|>", text, flags=re.S)
    calls = [
        re.findall(r"<tool_call>\n(.*?)\n</tool_call>(?=\n<tool_call>|\Z)", turn, flags=re.S) for turn in said
    ]
    heard = re.findall(
        r"<tool_response>\n(.*?)\n</tool_response>(?=\n<tool_response>|<\|im_end)", text, flags=re.S
    )
    tools = re.search(r"<tools>\n(.*?)\n</tools>", text, flags=re.S)
    return {
        "calls": [[json.loads(call) for call in turn] for turn in calls],
        "tools": [json.loads(line) for line in tools[1].split("\n")] if tools else [],
        "replies": heard,
        "text": text,
        "learnt": learnt,
    }


def trl(path: Path, cache: Path) -> list[dict[str, Any]]:
    import datasets
    from trl import SFTConfig, SFTTrainer
    from trl.chat_template_utils import qwen3_training_chat_template as template

    rows = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=str(cache))
    given = [json.loads(line) for line in path.read_text().split("\n") if line]
    assert [dict(row) for row in rows] == given, "the loader changed a row"
    words, model = tokenizer(), small_model()
    words.chat_template = template
    config = SFTConfig(
        output_dir=str(cache), max_length=None, report_to="none", use_cpu=True, assistant_only_loss=True
    )
    trainer = SFTTrainer(model, args=config, train_dataset=rows, processing_class=words)
    return [decoded(words, row["input_ids"], row["labels"]) for row in trainer.train_dataset]


def decoded(words: Any, ids: list[int], labels: list[int]) -> dict[str, Any]:
    learnt = [label for label in labels if label != -100]
    return told(words.decode(ids), words.decode(learnt))


def grpo(path: Path, cache: Path) -> dict[str, Any]:
    """One step of TRL's trainer with a reward, and what it makes of the rewards of given completions."""
    import pickle

    import datasets
    import torch
    from trl import GRPOConfig, GRPOTrainer
    from trl.chat_template_utils import qwen3_chat_template as template

    reward, completions, ids = pickle.loads(path.read_bytes())
    words = tokenizer()
    words.chat_template, words.padding_side = template, "left"
    rows = [{"prompt": [{"role": "user", "content": "Lend."}], "scenario_id": ids[0]} for _ in range(2)]
    config = GRPOConfig(
        output_dir=str(cache), report_to="none", use_cpu=True, bf16=False, max_steps=1, num_generations=2,
        per_device_train_batch_size=2, max_completion_length=8, logging_steps=1, save_strategy="no",
    )  # fmt: skip
    dataset = datasets.Dataset.from_list(rows)
    trainer = GRPOTrainer(small_model(), reward, args=config, train_dataset=dataset, processing_class=words)
    trainer.train()
    given = [{**rows[0], "scenario_id": name} for name in ids]
    prompts = [row["prompt"] for row in given]
    earned = trainer._calculate_rewards(given, prompts, completions, [[0]] * len(ids))[:, 0]
    [name] = trainer.reward_func_names
    means = [
        row[f"rewards/{name}/mean"] for row in trainer.state.log_history if f"rewards/{name}/mean" in row
    ]
    rewards = [None if torch.isnan(value) else value.item() for value in earned]
    return {"rewards": rewards, "steps": trainer.state.global_step, "name": name, "mean": means[0]}


def llamafactory(path: Path, cache: Path) -> list[dict[str, Any]]:
    # Only sounds are read with it, and it wants the torch that it was built for.
    sounds = types.ModuleType("torchaudio")
    sounds.__spec__ = importlib.machinery.ModuleSpec("torchaudio", None)
    sys.modules["torchaudio"] = sounds
    from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
    from llamafactory.hparams import DataArguments, ModelArguments
    from transformers import Seq2SeqTrainingArguments

    words = tokenizer()
    data = DataArguments(dataset=path.stem, dataset_dir=str(path.parent), template="qwen3", cutoff_len=10**6)
    model = ModelArguments(model_name_or_path="none", cache_dir=str(cache))
    training = Seq2SeqTrainingArguments(output_dir=str(cache), report_to="none", use_cpu=True)
    template = get_template_and_fix_tokenizer(words, data)
    module = get_dataset(template, model, data, training, stage="sft", tokenizer=words)
    return [decoded(words, row["input_ids"], row["labels"]) for row in module["train_dataset"]]


if __name__ == "__main__":
    loader, file, folder = sys.argv[1:4]
    found = {"trl": trl, "grpo": grpo, "llamafactory": llamafactory}[loader](Path(file), Path(folder))
    Path(folder, "loaded.json").write_text(json.dumps(found))
