"""What is said of what stands for things that are not on this machine: data sets, weights, vocabularies."""

from __future__ import annotations

from ..domain.messages import Message

STAND_INS = (
    Message(
        code="dataset_stand_in",
        text="The data set {name} is not on this machine; samples of its published shape stand for it.",
    ),
    Message(
        code="program_absent",
        text="The script {path} that the notebook starts{place} is not on this machine: what trains in it is not seen.",
        hint="Put it where the notebook looks for it (clone the repository, correct the name), and estimate again.",
    ),
    Message(
        code="text_length_mean",
        text="Each text of {name} is taken to have {length} words or Chinese characters, which is their mean.",
        hint="A batch that is padded to its longest text is larger; one that is filled up or cut to a length of its "
        "own is not.",
    ),
    Message(
        code="text_length_assumed",
        text="How long the texts of {name} are was found nowhere: {length} words or Chinese characters are assumed.",
        hint="A batch that is padded to its longest text may be much larger or smaller; one that is filled up or cut "
        "to a length of its own is not.",
    ),
    Message(
        code="words_made_up",
        text="The texts of {name} are made up: a vocabulary that the program counts in them is assumed, of at most "
        "{characters} Chinese characters or {words} words.",
        hint="Where an embedding or an output is as large as that vocabulary, put its true size into the cells.",
    ),
    Message(
        code="environment_stand_in",
        text="The module {module} is not here; {name} stands in by its published spaces, with episodes of {steps} "
        "steps.",
        hint="Where a step keeps a whole episode, its figure is that of the longest; a job needs the module: "
        "`pip install {module}`.",
    ),
    Message(
        code="dataset_made_up",
        text="The files of the data set {name} are not on this machine; made-up pictures of 640 x 480, or "
        "of its published size, stand for them, with 7 objects where objects are learned and all classes in each mask.",
        hint="Where the step's size hangs on that of the pictures, have some of them here and estimate again.",
    ),
    Message(
        code="data_sampled",
        text="“{wanted}” is not on this machine; the figure is of batches like those of “{sample}”, which a "
        "configuration beside the program's own names.",
        hint="Where samples differ in length, have some of the data here and estimate again.",
    ),
    Message(
        code="texts_made_up",
        text="The files of the data set {name} are not on this machine; made-up pictures stand for them: lines of "
        "text of 320 x 48, pages of 640 x 480 with 7 lines.",
        hint="Where the step's size hangs on that of the pictures, have some of them here and estimate again.",
    ),
    Message(
        code="clips_made_up",
        text="The files of the data set {name} are not on this machine; made-up clips of 300 frames of 340 x 256 "
        "stand for them.",
        hint="Where the step's size hangs on that of the clips, have some of them here and estimate again.",
    ),
    Message(
        code="pictures_made_up",
        text="The data set's pictures are not on this machine; made-up ones of 640 x 480, or of its published "
        "size, stand for them.",
        hint="Where the step's size hangs on that of the pictures, have some of them here and estimate again.",
    ),
    Message(
        code="settings_fallback",
        text="“{path}” is not on this machine; where the program says what it takes without it, that is taken.",
        hint="Where the job has the file, have it here too and estimate again.",
    ),
    Message(
        code="loss_unseen",
        text="What the loss computes stands in data that is not on this machine; the mean of what it is given is "
        "assumed in its place.",
        hint="A loss of many operations takes more; have its file here and estimate again.",
    ),
    Message(
        code="weights_absent",
        text="Pretrained weights were not loaded: the model keeps its own, which take as much memory.",
    ),
    Message(
        code="vocabulary_made_up",
        text="The vocabulary of the tokenizer {name} is not on this machine; one of {size} tokens stands for it, to "
        "which a word or a Chinese character is one token.",
        hint="Texts that are neither filled up nor cut to a length may be longer with the real one.",
    ),
    Message(
        code="pieces_made_up",
        text="The SentencePiece vocabulary of the tokenizer {name} is not on this machine; one of {size} tokens stands "
        "for it, to which a word is at most two tokens and a Chinese character is one.",
        hint="Texts that are neither filled up nor cut to a length may be shorter or longer with the real one.",
    ),
    Message(
        code="vectors_made_up",
        text="The vectors {name} are not on this machine; an embedding of the published {rows} rows of {width} stands "
        "for them.",
    ),
    Message(
        code="configuration_assumed",
        text="The configuration of the model {name} is not on this machine; its sizes are assumed to be those of "
        "{like}.",
        hint="Load the model once in a kernel; then the estimate has its own.",
    ),
)
"""Sentences of the notes by code."""
