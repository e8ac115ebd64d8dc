"""Data of the right shapes for trainers that need files: pictures of one colour, silence, one word.

`python -m benchmarks.gpu_logs.made_up CLONES` puts them where the configurations of the collection look for them, in
each clone and in each work tree beside it (`PaddleOCR@3e57aad2`).
PaddleYOLO, PaddleSeg, PaddleClas and mostly PaddleDetection need none: the estimate stands in for theirs; of trainings
whose configuration a log tells in words it is written here. PaddleNLP's GPT indexes its tokens with a helper in C++
that its trainer compiles by itself (`make -C ppfleetx/data/data_tools/cpp`).
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from .made_up_lines import RECOGNIZER, with_lines
from .made_up_talks import conversations
from .made_up_texts import UTTERANCES, masked, tokens
from .older import KINDS, OF_BASE, REDUCED, RENAMED, SCORES, TODAYS_ADAMW

FRAMES, PICTURES, MOST_PICTURES = 100, 400, 16384
OBJECTS, MOST_OBJECTS, CLASSES = 7, 93, 80
"""Objects of a picture of COCO: 860,001 in 117,266, and those of the fullest."""
HELMETS, HELMETS_MOST = 9, (30, 60)
"""Objects of a picture of SH17: 75,994 in 8,099, and those of a batch's fullest, which nobody told."""
LONGEST, LETTERS, LINES = 23, 38, {"train": 3288, "val": 224}
"""Letters of the longest line that a recogniser takes, two fewer than its `max_text_length` of 25, or of 40; lines of
that list. Of all steps the one with the longest line takes most, and so all lines are as long."""
CARS = 5
"""Objects of a picture: KITTI has 80,256 in 14,999."""
FEATURES, HOP = 400, 300
"""Frames of spectrum of an utterance, and samples of sound a frame: CSMSC at 24 kHz."""


def frames(root: Path) -> None:
    """REDS: frames of 320 x 180 and of 1280 x 720 in a folder a video; PaddleGAN trains on all but `000`."""
    for part, size in (("train_sharp_bicubic", (320, 180)), ("train_sharp", (1280, 720))):
        for video in ("000", "001"):
            folder = root / "data" / "REDS" / part / "X4" / video
            folder.mkdir(parents=True, exist_ok=True)
            first = folder / "00000000.png"
            Image.new("RGB", size).save(first)
            for number in range(1, FRAMES):
                (folder / f"{number:08d}.png").unlink(missing_ok=True)
                (folder / f"{number:08d}.png").symlink_to(first)
    (root / "data" / "REDS" / "meta_info_REDS_GT.txt").write_text("000/00000000.png\n001/00000000.png\n")


def sounds(root: Path) -> None:
    """What PaddleSpeech's preprocessing of CSMSC leaves: a spectrum and a wave an utterance."""
    for part in ("train", "dev"):
        folder = root / "dump" / part / "norm"
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "feats.npy", np.zeros((FEATURES, 80), "float32"))
        np.save(folder / "wave.npy", np.zeros(FEATURES * HOP, "float32"))
        files = {"wave": str(folder / "wave.npy"), "feats": str(folder / "feats.npy")}
        rows = [json.dumps({"utt_id": f"u{number}", **files}) for number in range(UTTERANCES)]
        (folder / "metadata.jsonl").write_text("\n".join(rows) + "\n")


def texts(root: Path) -> None:
    """PaddleOCR: a line of text to read, and a page of one line to find."""
    folder = root / "train_data"
    (folder / "det").mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (320, 48), "white").save(folder / "word.png")
    Image.new("RGB", (640, 640), "white").save(folder / "det" / "page.png")
    corners = [[100, 100], [400, 100], [400, 200], [100, 200]]
    line = json.dumps([{"transcription": "abc", "points": corners}])
    for name, row in (("list", f"word.png\t{'a' * LONGEST}\n"), ("det", f"det/page.png\t{line}\n")):
        for part in ("train", "val"):
            (folder / f"{part}_{name}.txt").write_text(row * PICTURES)
    if (root / "configs" / RECOGNIZER).exists():
        letters(root)
    with_lines(root)


def letters(root: Path) -> None:
    """PP-OCRv5's small recogniser as a repository's list of its runs has it: lines of its own letters."""
    import yaml

    told = yaml.safe_load((root / "configs" / RECOGNIZER).read_text())
    told["Global"] |= {
        "max_text_length": LETTERS + 2, "use_space_char": False, "distributed": False,
        "character_dict_path": "ppocr/utils/en_dict.txt",
    }  # fmt: skip
    for part in (*told["Architecture"]["Head"]["head_list"], *told["Train"]["dataset"]["transforms"]):
        for name in part.keys() & {"NRTRHead", "RecConAug"}:
            part[name]["max_text_length"] = LETTERS + 2
    for part, count in LINES.items():
        (root / "train_data" / f"{part}_letters.txt").write_text(f"word.png\t{'a' * LETTERS}\n" * count)
    for batch in (192, 256):
        told["Train"]["sampler"]["first_bs"] = batch
        for part in ("Train", "Eval"):
            told[part]["loader"]["batch_size_per_card"] = batch
        (root / "configs" / f"gpu_logs_ipa_{batch}.yml").write_text(yaml.safe_dump(told, sort_keys=False))


def classification(root: Path) -> None:
    """PASSL: pictures of ImageNet's usual size, more than a warm-up of 10,000 steps takes, and what Paddle 3 and Pillow
    of today ask for."""
    for module in sorted(root.rglob("*.py")):
        text = said = module.read_text()
        for old, new in RENAMED:
            said = said.replace(old, new)
        if module.match("passl/optimizer/adamw.py") and "def _adamw" not in said:
            said = said.replace("= _C_ops.adamw(", "= _adamw(") + TODAYS_ADAMW
        if said != text:
            module.write_text(said)
    base = root / "dataset" / "ILSVRC2012"
    for part, count in (("train", 65536), ("val", 4096)):
        folder = base / part / "n00000000"
        folder.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (500, 375)).save(folder / "0.jpg")
        for number in range(1, MOST_PICTURES):  # four batches of 512 on each of eight cards: two wait
            (folder / f"{number}.jpg").unlink(missing_ok=True)
            (folder / f"{number}.jpg").symlink_to("0.jpg")
        (base / f"{part}_list.txt").write_text(f"{part}/n00000000/0.jpg 0\n" * count)
    few = base / "train" / "n00000000" / "n00000000_0.jpg"
    few.unlink(missing_ok=True)
    few.symlink_to("0.jpg")
    (base / "10percent.txt").write_text(f"{few.name}\n" * 65536)


def segmentation(root: Path) -> None:
    """What PaddleSeg#1568 says of its configuration."""
    parts = {part: {"type": "Dataset", "dataset_root": "data", "num_classes": 2} for part in ("train", "val")}
    told = {
        "_base_": "deeplabv3p/deeplabv3p_resnet50_os8_voc12aug_512x512_40k.yml",
        "batch_size": 2,
        "model": {"num_classes": 2},
        **{f"{part}_dataset": {**own, f"{part}_path": f"data/{part}.txt"} for part, own in parts.items()},
    }
    (root / "configs" / "gpu_logs_1568.yml").write_text(json.dumps(told))


def divided(root: Path) -> None:
    """PaddleSeg of February 2021: a mask of its loss as the number that a product of then made of it."""
    loss = root / "paddleseg" / "models" / "losses" / "dice_loss.py"
    loss.write_text(loss.read_text().replace("logits * mask\n", "logits * mask.astype(logits.dtype)\n"))


def detection(root: Path) -> None:
    """PicoDet of one size, as one of the four variants of a public comparison has it."""
    mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    sizes = {"target_size": [320], "random_size": True, "random_interp": True, "keep_ratio": False}
    steps = [{"BatchRandomResize": sizes}, {"NormalizeImage": {"is_scale": True, "mean": mean, "std": std}}]
    told = {
        "_BASE_": ["picodet/picodet_l_320_coco_lcnet.yml"],
        "num_classes": 17,
        "TrainReader": {"batch_transforms": [*steps, {"Permute": {}}, {"PadGT": {}}], "batch_size": 24},
    }
    (root / "configs" / "gpu_logs_picodet.yml").write_text(json.dumps(told))
    crowded(root / "dataset" / "crowded", (MOST_OBJECTS, *[OBJECTS] * 15))
    for most in HELMETS_MOST:
        crowded(root / "dataset" / f"helmets_{most}", (most, *[HELMETS] * 23), classes=17)
        part = {"name": "COCODataSet", "dataset_dir": f"dataset/helmets_{most}", "image_dir": "train2017"}
        file = {"anno_path": "annotations/instances_train2017.json", "data_fields": ["image", "gt_bbox", "gt_class"]}
        largest = {"BatchRandomResize": sizes | {"target_size": [384]}}
        reader = {
            "sample_transforms": [{"Decode": {}}, {"RandomFlip": {"prob": 0.5}}],
            "batch_transforms": [largest, *told["TrainReader"]["batch_transforms"][1:]], "batch_size": 24,
        }  # fmt: skip
        full = {"_BASE_": told["_BASE_"], "num_classes": 17, "TrainDataset": part | file, "TrainReader": reader}
        (root / "configs" / f"gpu_logs_picodet_{most}.yml").write_text(json.dumps(full))
    certificates(root)


def certificates(root: Path) -> None:
    """Faster R-CNN of scanned certificates, which are padded to squares of 1550: two sides of what is padded, what was
    cut out and what was changed are an object each."""
    if not (root / "configs" / "faster_rcnn" / "faster_rcnn_r50_fpn_1x_coco.yml").exists():
        return
    crowded(root / "dataset" / "certificates", [4] * 8, classes=2, size=(1550, 1550))
    part = {"name": "COCODataSet", "dataset_dir": "dataset/certificates", "image_dir": "train2017"}
    file = {
        "anno_path": "annotations/instances_train2017.json",
        "data_fields": ["image", "gt_bbox", "gt_class", "is_crowd"],
    }
    told = {
        "_BASE_": ["faster_rcnn/faster_rcnn_r50_fpn_1x_coco.yml"], "num_classes": 2, "epoch": 3,
        "TrainDataset": part | file, "EvalDataset": part | file,
    }  # fmt: skip
    (root / "configs" / "gpu_logs_certificates.yml").write_text(json.dumps(told))


def crowded(root: Path, counts: Sequence[int], classes: int = CLASSES, size: tuple[int, int] = (640, 480)) -> None:
    """A batch with one picture as full as the fullest, the others with as many objects as are usual."""
    for part in ("train2017", "val2017"):
        (root / part).mkdir(parents=True, exist_ok=True)
        images, objects = [], []
        for picture, count in enumerate(counts, 1):
            Image.new("RGB", size).save(root / part / f"{picture}.jpg")
            images.append({"id": picture, "file_name": f"{picture}.jpg", "width": size[0], "height": size[1]})
            for number in range(count):
                x, y = number * 37 % 560 + 10, number * 53 % 400 + 10
                outline = [x, y, x + 60, y, x + 60, y + 60, x, y + 60]
                objects.append({
                    "id": len(objects) + 1, "image_id": picture, "category_id": number % classes + 1, "iscrowd": 0,
                    "bbox": [x, y, 60, 60], "area": 3600, "segmentation": [outline],
                })  # fmt: skip
        names = [{"id": number, "name": str(number)} for number in range(1, classes + 1)]
        (root / "annotations").mkdir(exist_ok=True)
        (root / "annotations" / f"instances_{part}.json").write_text(
            json.dumps({"images": images, "annotations": objects, "categories": names})
        )


def clips(root: Path) -> None:
    """PaddleVideo: a clip of ten seconds."""
    import cv2

    folder = root / "data" / "k400"
    (folder / "videos").mkdir(parents=True, exist_ok=True)
    film = cv2.VideoWriter(str(folder / "videos" / "a.mp4"), cv2.VideoWriter_fourcc(*"mp4v"), 30, (340, 256))
    for _ in range(300):
        film.write(np.zeros((256, 340, 3), "uint8"))
    film.release()
    for part in ("train", "val"):
        (folder / f"{part}.list").write_text("a.mp4 1\n" * PICTURES)


def first_clips(root: Path) -> None:
    """PaddleVideo of December 2020, whose lists are called otherwise."""
    clips(root)
    for part in ("train", "val"):
        (root / "data" / "k400" / f"{part}.csv").write_text("data/k400/videos/a.mp4 1\n" * PICTURES)
    for name, old, new in REDUCED:
        module = root / "paddlevideo" / name
        module.write_text(module.read_text().replace(old, new))


def scenes(root: Path) -> None:
    """KITTI as Paddle3D prepares it: pictures of 1242 x 375 with their depth and five cars each."""
    for name, typed, cast in KINDS:
        module = root / "paddle3d" / name
        module.write_text(module.read_text().replace(f"{typed}\n", f"{cast}\n"))
    base = root / "data" / "kitti"
    for kind in ("image_2", "depth_2", "calib", "label_2"):
        (base / "training" / kind).mkdir(parents=True, exist_ok=True)
    (base / "ImageSets").mkdir(exist_ok=True)
    Image.new("RGB", (1242, 375)).save(base / "training" / "image_2" / "000000.png")
    Image.fromarray(np.full((375, 1242), 5120, "uint16")).save(base / "training" / "depth_2" / "000000.png")
    camera = "721.5 0 609.6 44.9 0 721.5 172.9 0.2 0 0 1 0.003"
    told = [f"P{number}: {camera}" for number in range(4)]
    told += ["R0_rect: 1 0 0 0 1 0 0 0 1", "Tr_velo_to_cam: 0 -1 0 0 0 0 -1 0 1 0 0 0", "Tr_imu_to_velo: " + "0 " * 11]
    (base / "training" / "calib" / "000000.txt").write_text("\n".join(told) + "\n")
    car = "Car 0 0 0 600 170 680 210 1.5 1.6 3.9 0 1.5 20 0"
    (base / "training" / "label_2" / "000000.txt").write_text(f"{car}\n" * CARS)
    objects = {
        "name": np.array(["Car"] * CARS), "location": np.array([[0.0, 1.5, 20.0]] * CARS),
        "dimensions": np.array([[3.9, 1.5, 1.6]] * CARS), "rotation_y": np.zeros(CARS),
        "bbox": np.array([[600.0, 170.0, 680.0, 210.0]] * CARS),
    }  # fmt: skip
    scene = {
        "point_cloud": {"num_features": 4, "lidar_idx": "000000"},
        "image": {"image_idx": "000000", "image_shape": np.array([375, 1242], "int32")}, "calib": {}, "annos": objects,
    }  # fmt: skip
    for part in ("train", "val"):
        (base / "ImageSets" / f"{part}.txt").write_text("000000\n" * PICTURES)
        (base / f"kitti_infos_{part}.pkl").write_bytes(pickle.dumps([scene] * PICTURES))


def captions(root: Path) -> None:
    """PaddleMIX: BLIP-2 with OPT 2.7B by their published figures, pictures of COCO with long captions."""
    network, language = root / "paddlemix" / "blip2-stage2", root / "facebook" / "opt-2.7b"
    images, said = (root / "made_up" / "datasets" / "coco" / name for name in ("images", "annotations"))
    for folder in (*(network / "processor" / part for part in ("train", "eval")), language, images, said):
        folder.mkdir(parents=True, exist_ok=True)
    for part in ("train", "eval"):
        picture = {"size": {"height": 224, "width": 224}, "do_rand_resize_crop": part == "train"}
        for name, told in (("image", picture), ("text", {"do_caption": True})):
            (network / "processor" / part / f"{name}_preprocessor_config.json").write_text(json.dumps(told))
    (network / "config.json").write_text(json.dumps(BLIP))
    (language / "config.json").write_text(json.dumps(OPT))
    (language / "vocab.json").write_text(json.dumps({"<pad>": 0, "<unk>": 1, "</s>": 2, "a": 3, "b": 4}))
    (language / "merges.txt").write_text("#version: 0.2\n")
    marks = {"pad_token": "<pad>", "unk_token": "<unk>", "eos_token": "</s>", "bos_token": "</s>"}
    (language / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "GPTTokenizer", **marks}))
    Image.new("RGB", (640, 480)).save(images / "a.jpg")
    rows = [{"image": "a.jpg", "image_id": number, "caption": "a" * 40} for number in range(PICTURES)]
    for name, old, new in SCORES:
        module = root.with_name("PaddleNLP-2023") / "paddlenlp" / name
        module.write_text(module.read_text().replace(old, new))
    for part in ("train", "val", "test"):
        (said / f"coco_karpathy_{part}.json").write_text(json.dumps(rows))


def encoded(root: Path) -> None:
    """PaddleMIX's autoencoder: a stream of lines with a caption and a picture in base 64."""
    data = root / "ppdiffusers" / "examples" / "autoencoder" / "vae" / "data"
    (data / "laion400m").mkdir(parents=True, exist_ok=True)
    picture = io.BytesIO()
    Image.new("RGB", (640, 640)).save(picture, "JPEG")
    line = f"a\t\t{base64.b64encode(picture.getvalue()).decode()}\n"
    with gzip.open(data / "laion400m" / "part-00000.gz", "wt") as file:
        file.write(line * UTTERANCES)
    (data / "filelist" / "laion400m_en.filelist").write_text("./data/laion400m/part-00000.gz\n")
    for name in OF_BASE:
        if (module := root / "ppdiffusers" / "ppdiffusers" / name).exists():
            module.write_text(module.read_text().replace("paddle.fluid", "paddle.base"))
    if not (config := data.parent / "config" / "vae.json").exists():
        config.write_text(json.dumps(AUTOENCODER))
    features(root)
    conversations(root)


def features(root: Path) -> None:
    """PaddleMIX's DiT: what its autoencoder made of pictures of 256 x 256, and the file that its script imports."""
    trainer = root / "ppdiffusers" / "examples" / "class_conditional_image_generation" / "DiT"
    if not trainer.is_dir():  # before March 2024
        return
    for kind, one in (("features", np.zeros((1, 4, 32, 32), "float32")), ("labels", np.zeros((1,), "int64"))):
        folder = trainer / "data" / "fastdit_imagenet256" / f"imagenet256_{kind}"
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "0.npy", one)
        for number in range(1, UTTERANCES):
            (folder / f"{number}.npy").unlink(missing_ok=True)
            (folder / f"{number}.npy").symlink_to("0.npy")
    (trainer / "diffusion" / "dist_env.py").write_text(SEEDED)


BLIP = {
    "architectures": ["Blip2ForConditionalGeneration"], "text_config": "facebook/opt-2.7b", "freeze_vit": True,
    "use_decoder_only_language_model": True, "model_type": "blip-2",
    "qformer_config": {
        "add_cross_attention": True, "cross_attention_freq": 2, "embed_dim": 256, "fuse": False,
        "num_query_tokens": 32, "model_type": "bert", "dropout": None, "pool_act": "tanh",
    },
    "vision_config": {"depth": 39, "embed_dim": 1408, "num_heads": 16, "img_size": 224, "patch_size": 14},
}  # fmt: skip
OPT = {
    "architectures": ["OPTForCausalLM"], "model_type": "opt", "vocab_size": 50272, "hidden_size": 2560,
    "intermediate_size": 10240, "num_hidden_layers": 32, "num_attention_heads": 32, "word_embed_proj_dim": 2560,
    "max_position_embeddings": 2048,
}  # fmt: skip
AUTOENCODER = {
    "act_fn": "silu", "block_out_channels": [128, 256, 512, 512], "down_block_types": ["DownEncoderBlock2D"] * 4,
    "down_block_out_channels": None, "in_channels": 3, "layers_per_block": 2, "norm_num_groups": 32, "out_channels": 3,
    "sample_size": 512, "up_block_out_channels": [128, 256, 256, 256, 512], "latent_channels": 4,
    "up_block_types": ["UpDecoderBlock2D"] * 5,
}  # fmt: skip
"""The trainer's own `config/vae.json`, which its repository has since August 2023, a month after its page."""
SEEDED = """\
from paddle.distributed.fleet.meta_parallel import get_rng_state_tracker


def set_hyrbid_parallel_seed(*args, **kwargs):
    tracker = get_rng_state_tracker()
    for name in ("global_seed", "local_seed"):
        if name not in tracker.states_:
            tracker.add(name, 100 + len(tracker.states_))
"""
"""What `train_image_generation_notrainer.py` imports and its repository lacks: two random states by name."""
MADE = {
    "PaddleDetection": detection, "PaddleGAN": frames, "PaddleMIX": encoded, "PaddleMIX-2023": captions,
    "PaddleNLP": tokens, "PaddleNLP-2024": masked, "PASSL": classification,
    "Paddle3D": scenes, "PaddleOCR": texts,
    "PaddleSeg": segmentation, "PaddleSeg-2021": divided, "PaddleSpeech": sounds, "PaddleVideo": clips,
    "PaddleVideo-2020": first_clips,
}  # fmt: skip

if __name__ == "__main__":
    for clone in sorted(Path(sys.argv[1]).absolute().iterdir()):
        if make := MADE.get(clone.name.partition("@")[0]):
            make(clone)
