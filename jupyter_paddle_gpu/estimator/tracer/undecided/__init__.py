"""Values that are not computed: what a program reads of them, and which way it goes."""
