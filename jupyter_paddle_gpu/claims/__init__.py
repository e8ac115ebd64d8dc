"""Who has which device of this machine, agreed between processes and Unix users through a folder that all may write."""
