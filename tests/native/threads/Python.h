/* Stands for Python's header where csrc/pool.c is compiled without Python. */
