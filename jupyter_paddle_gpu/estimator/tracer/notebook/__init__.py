"""From a notebook or live objects to a trace: cells, answers, questions, what-ifs."""
