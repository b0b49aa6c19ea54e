"""Checks the hints that redis-cli shows while one types: python redis_cli_hints.py HOST PORT

redis-cli makes them from COMMAND DOCS, and only for a terminal. So it gets one.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

# With this the terminal is told to write a hint's colour.
HINT = "49m"
# What is typed, and what must stand on the screen before more is typed. A tab completes a name. PROMPT is redis-cli's:
# what is typed while it isn't there may be lost.
HINTS = [
    ("BF.RESERVE ", HINT + "key error_rate capacity [EXPANSION expansion] [NONSCALING]"),
    ("users 0.01 ", HINT + "capacity [EXPANSION expansion] [NONSCALING]"),
    ("100\r", "OK\r\nPROMPT"),
    ("cf.insertn\t ", HINT + "key [CAPACITY capacity] [NOCREATE] ITEMS item [item ...]"),
]
PATIENCE_SECONDS = 10


def main(host, port):
    process, terminal = pty.fork()
    if process == 0:
        os.environ["TERM"] = "xterm"
        os.execvp("redis-cli", ["redis-cli", "-h", host, "-p", port])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
    try:
        prompt = f"{host}:{port}> "
        wait_for(terminal, prompt)
        for typed, hint in HINTS:
            os.write(terminal, typed.encode())
            wait_for(terminal, hint.replace("PROMPT", prompt))
    finally:
        # Also ends redis-cli, which has no terminal any more.
        os.close(terminal)
        os.waitpid(process, 0)
    print("redis-cli's hints: all well")


def wait_for(terminal, text, screen=bytearray()):
    """Reads until the text has come. What came before it is still there for the next."""
    # redis-cli's line editor writes the line anew at each key.
    end = time.monotonic() + PATIENCE_SECONDS
    while text.encode() not in screen:
        left = end - time.monotonic()
        assert left > 0, f"no {text!r} in {bytes(screen)!r}"
        if select.select([terminal], [], [], left)[0]:
            screen += os.read(terminal, 1 << 16)


main(*sys.argv[1:])
