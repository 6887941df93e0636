"""OpenStack Swift with its S3 interface, in one process on 127.0.0.1, for the tests.

Usage: python3 swift_server.py FOLDER ACCESS_KEY SECRET. It keeps everything in the folder, whose
file system must have extended attributes, prints its address as soon as it answers, and ends with
its standard input.
"""

import configparser
import os
import pathlib
import sys

import eventlet
import eventlet.wsgi

eventlet.monkey_patch()

from swift.common import utils, wsgi
from swift.common.http_protocol import SwiftHttpProtocol
from swift.common.ring import RingBuilder

ADDRESS = "127.0.0.1"
STORES = ("account", "container", "object")


def write(path, sections):
    parser = configparser.RawConfigParser()
    parser.read_dict(sections)
    with path.open("w") as file:
        parser.write(file)
    return str(path)


def make_rings(folder, ports):
    """One copy of everything on one device, as Swift's own all-in-one setup has it."""
    for store in STORES:
        builder = RingBuilder(part_power=2, replicas=1, min_part_hours=0)
        builder.add_dev(
            {
                "id": 0,
                "region": 1,
                "zone": 1,
                "weight": 1.0,
                "ip": ADDRESS,
                "port": ports[store],
                "device": "disk",
            }
        )
        builder.rebalance()
        builder.get_ring().save(str(folder / f"{store}.ring.gz"))


def configure(folder, ports, access_key, secret):
    """The path of each server's configuration, after that of the cluster is in place."""
    hashes = {"swift_hash_path_suffix": "test"}
    policy = {"name": "gold", "default": "yes"}
    write(folder / "swift.conf", {"swift-hash": hashes, "storage-policy:0": policy})
    here = {"swift_dir": folder, "devices": folder, "mount_check": "false"}
    paths = {
        store: write(
            folder / f"{store}-server.conf",
            {"DEFAULT": here, "app:main": {"use": f"egg:swift#{store}"}},
        )
        for store in STORES
    }
    paths["proxy"] = write(
        folder / "proxy-server.conf",
        {
            "DEFAULT": here,
            "pipeline:main": {"pipeline": "catch_errors cache s3api tempauth proxy-server"},
            "filter:catch_errors": {"use": "egg:swift#catch_errors"},
            # There is no server: tempauth wants a cache, but needs none where requests are signed.
            "filter:cache": {"use": "egg:swift#memcache", "memcache_servers": f"{ADDRESS}:9"},
            "filter:s3api": {"use": "egg:swift#s3api"},
            "filter:tempauth": {
                "use": "egg:swift#tempauth",
                f"user_{access_key.replace(':', '_')}": f"{secret} .admin",
            },
            "app:proxy-server": {"use": "egg:swift#proxy", "account_autocreate": "true"},
        },
    )
    return paths


def main(folder, access_key, secret):
    folder = pathlib.Path(folder)
    (folder / "disk").mkdir()
    sockets = {name: eventlet.listen((ADDRESS, 0)) for name in (*STORES, "proxy")}
    ports = {name: socket.getsockname()[1] for name, socket in sockets.items()}
    make_rings(folder, ports)
    paths = configure(folder, ports, access_key, secret)
    utils.set_swift_dir(str(folder))
    for name, socket in sockets.items():
        eventlet.spawn(
            eventlet.wsgi.server,
            socket,
            wsgi.loadapp(paths[name]),
            utils.NullLogger(),
            protocol=SwiftHttpProtocol,
            # The S3 clients want an ETag, not an Etag.
            capitalize_response_headers=False,
        )
    print(f"http://{ADDRESS}:{ports['proxy']}", flush=True)
    eventlet.tpool.execute(sys.stdin.read)


if __name__ == "__main__":
    main(*sys.argv[1:])
