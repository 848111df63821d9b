"""Serves an application of WebArena-Infinity on loopback alone.

    python3 serve.py FOLDER PORT

The server in the folder listens on every interface of the machine when it is started by itself.
"""

import os
import runpy
import socketserver
import sys

folder, port = sys.argv[1], sys.argv[2]
bind = socketserver.TCPServer.server_bind


def bind_to_loopback(server):
    server.server_address = ("127.0.0.1", server.server_address[1])
    bind(server)


socketserver.TCPServer.server_bind = bind_to_loopback
os.chdir(folder)
sys.path.insert(0, os.getcwd())
sys.argv = ["server.py", "--port", port]
runpy.run_path("server.py", run_name="__main__")
