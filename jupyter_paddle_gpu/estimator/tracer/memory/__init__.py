"""What a tensor is to a trace: element types, arrays over storages, the ledger of a run, values that are known."""
