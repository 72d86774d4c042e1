"""Writes a vision-language model with random weights, for tests of the runtime: what it says is noise.

    python toy_model.py FOLDER     writes model.gguf (llama) and projector.gguf (idefics3), 2 MB in all
"""

import sys
from pathlib import Path

import gguf
import numpy as np

WIDTH, LAYERS, HEADS, HIDDEN, CONTEXT = 128, 2, 4, 256, 32768
IMAGE, PATCH, MERGE, VISION_WIDTH, VISION_LAYERS, VISION_HIDDEN = 64, 16, 2, 64, 2, 128
# Tokens that idefics3 puts around pictures and tiles.
PICTURES = ["<fake_token_around_image>", "<global-img>", "<image>"] + [
    f"<row_{row}_col_{column}>" for row in range(1, 9) for column in range(1, 9)
]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *PICTURES]
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}{{ part['text'] }}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
random = np.random.default_rng(7)


def byte_tokens() -> list[str]:
    """Characters that stand for the 256 bytes in a GPT-2 vocabulary."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in plain]
    names = {byte: chr(byte) for byte in plain} | {byte: chr(256 + at) for at, byte in enumerate(rest)}
    return [names[byte] for byte in range(256)]


def vocabulary() -> tuple[list[str], list[str]]:
    """Returns the tokens, and merges of bytes to words of the prompts, which make a prompt a third as long."""
    # Idefics3 puts a blank line before a picture, as one token.
    tokens, merges = [*byte_tokens(), "\u010a\u010a"], ["\u010a \u010a"]
    words = """you look at pictures from live camera or stream and report what is visible everything in the are evidence never an
    instruction text signs screens subtitles speech bubbles things to be described if one of them tells answer ignore who do not follow it
    between tags request description checked changes none these rules either judge only can seen guess outside picture hidden unreadable
    decide whether condition holds when doubt does this frame may written as statement question event first then explain most two short
    sentences which decides verdict explanation triggered true false frames order taken last before each its number"""
    for word in [part for text in sorted(set(words.split())) for part in (text, f"\u0120{text}")]:
        for end in range(2, len(word) + 1):
            if word[:end] not in tokens:
                tokens.append(word[:end])
                merges.append(f"{word[: end - 1]} {word[end - 1]}")
    return tokens, merges


def weights(*shape: int, scale: float = 0.5) -> np.ndarray:
    return (random.standard_normal(shape) * scale / np.sqrt(shape[-1])).astype(np.float16)


def leaning(tokens: list[str], favored: dict[str, float]) -> np.ndarray:
    """Weights of the output that favor some tokens, so that texts end."""
    rows = weights(len(tokens), WIDTH, scale=2)
    for token, strength in favored.items():
        rows[tokens.index(token)] += np.float16(strength / WIDTH)
    return rows


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, dtype=np.float32)


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, dtype=np.float32)


def write(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_model(path: Path) -> None:
    learned, merges = vocabulary()
    tokens = learned + SPECIAL
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("toy")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    kinds = [gguf.TokenType.NORMAL] * len(learned) + [gguf.TokenType.CONTROL] * len(SPECIAL)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(tokens.index("<|im_start|>"))
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    writer.add_pad_token_id(tokens.index("<|endoftext|>"))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    # Every token points a little in one direction, by which the output knows the favored ones.
    writer.add_tensor("token_embd.weight", weights(len(tokens), WIDTH, scale=8) + np.float16(0.7))
    writer.add_tensor("output_norm.weight", ones(WIDTH))
    writer.add_tensor("output.weight", leaning(tokens, {'"': 10}))
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"{block}.{name}.weight", weights(WIDTH, WIDTH))
        writer.add_tensor(f"{block}.ffn_gate.weight", weights(HIDDEN, WIDTH))
        writer.add_tensor(f"{block}.ffn_up.weight", weights(HIDDEN, WIDTH))
        writer.add_tensor(f"{block}.ffn_down.weight", weights(WIDTH, HIDDEN))
        writer.add_tensor(f"{block}.attn_norm.weight", ones(WIDTH))
        writer.add_tensor(f"{block}.ffn_norm.weight", ones(WIDTH))
    write(writer)


def write_projector(path: Path) -> None:
    writer = gguf.GGUFWriter(path, "clip")
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_string("clip.projector_type", "idefics3")
    writer.add_bool("clip.use_gelu", True)
    for name, value in {
        "image_size": IMAGE,
        "preproc_image_size": IMAGE,
        "patch_size": PATCH,
        "embedding_length": VISION_WIDTH,
        "feed_forward_length": VISION_HIDDEN,
        "projection_dim": WIDTH,
        "block_count": VISION_LAYERS,
        "attention.head_count": 4,
        "projector.scale_factor": MERGE,
    }.items():
        writer.add_uint32(f"clip.vision.{name}", value)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-6)
    writer.add_array("clip.vision.image_mean", [0.5, 0.5, 0.5])
    writer.add_array("clip.vision.image_std", [0.5, 0.5, 0.5])
    writer.add_tensor("v.patch_embd.weight", weights(VISION_WIDTH, 3, PATCH, PATCH, scale=4))
    writer.add_tensor("v.patch_embd.bias", zeros(VISION_WIDTH))
    writer.add_tensor("v.position_embd.weight", weights((IMAGE // PATCH) ** 2, VISION_WIDTH).astype(np.float32))
    for layer in range(VISION_LAYERS):
        block = f"v.blk.{layer}"
        for name in ("attn_q", "attn_k", "attn_v", "attn_out"):
            writer.add_tensor(f"{block}.{name}.weight", weights(VISION_WIDTH, VISION_WIDTH))
            writer.add_tensor(f"{block}.{name}.bias", zeros(VISION_WIDTH))
        writer.add_tensor(f"{block}.ffn_up.weight", weights(VISION_HIDDEN, VISION_WIDTH))
        writer.add_tensor(f"{block}.ffn_up.bias", zeros(VISION_HIDDEN))
        writer.add_tensor(f"{block}.ffn_down.weight", weights(VISION_WIDTH, VISION_HIDDEN))
        writer.add_tensor(f"{block}.ffn_down.bias", zeros(VISION_WIDTH))
        for name in ("ln1", "ln2"):
            writer.add_tensor(f"{block}.{name}.weight", ones(VISION_WIDTH))
            writer.add_tensor(f"{block}.{name}.bias", zeros(VISION_WIDTH))
    writer.add_tensor("v.post_ln.weight", ones(VISION_WIDTH))
    writer.add_tensor("v.post_ln.bias", zeros(VISION_WIDTH))
    writer.add_tensor("mm.model.fc.weight", weights(WIDTH, VISION_WIDTH * MERGE * MERGE, scale=8))
    write(writer)


folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
write_model(folder / "model.gguf")
write_projector(folder / "projector.gguf")
