"""Calls the volume services of a gateway with grpcio and prints the result of each step as one JSON object per line.

    lvmd_client.py PROTO_DIRECTORY TARGET [STEP...]

The stubs are generated from PROTO_DIRECTORY/proto/lvmd.proto into a temporary directory.
"""

import json
import sys
import tempfile
import threading
import time

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from grpc_tools import protoc

VOLUME = "grpcio"


def make_stubs(protos):
    directory = tempfile.TemporaryDirectory()
    out = directory.name
    args = ["protoc", f"-I{protos}", f"--python_out={out}", f"--grpc_python_out={out}", "proto/lvmd.proto"]
    if protoc.main(args) != 0:
        raise SystemExit("protoc refused proto/lvmd.proto")
    sys.path.insert(0, out)
    from proto import lvmd_pb2, lvmd_pb2_grpc

    return directory, lvmd_pb2, lvmd_pb2_grpc


def describe(error):
    details = []
    for detail in rpc_status.from_call(error).details if rpc_status.from_call(error) else []:
        info = error_details_pb2.ErrorInfo()
        details.append(info.reason if detail.Unpack(info) else detail.TypeName())
    return {"code": error.code().name, "message": error.details(), "details": details}


class Steps:
    def __init__(self, channel, pb, services):
        self.channel = channel
        self.pb = pb
        self.lv = services.LVServiceStub(channel)
        self.vg = services.VGServiceStub(channel)

    def unary(self):
        created = self.lv.CreateLV(self.pb.CreateLVRequest(name=VOLUME, size_gb=1, tags=["from=python"]))
        self.lv.ResizeLV(self.pb.ResizeLVRequest(name=VOLUME, size_gb=2))
        volumes, call = self.vg.GetLVList.with_call(self.pb.GetLVListRequest())
        volume = next(volume for volume in volumes.volumes if volume.name == VOLUME)
        self.lv.RemoveLV(self.pb.RemoveLVRequest(name=VOLUME))
        return {
            "created": created.volume.size_gb,
            "listed": volume.size_gb,
            "tags": list(volume.tags),
            "backend": dict(call.initial_metadata())["hostplane-backend"],
        }

    def stream(self):
        watch = self.vg.Watch(self.pb.Empty(), timeout=20)
        first = next(watch)
        self.lv.CreateLV(self.pb.CreateLVRequest(name=VOLUME, size_gb=1))
        # A message may arrive without a change; the gateway only promises one after each change.
        changed = next(message for message in watch if message.free_bytes != first.free_bytes)
        self.lv.RemoveLV(self.pb.RemoveLVRequest(name=VOLUME))
        watch.cancel()
        return {"taken": first.free_bytes - changed.free_bytes}

    def error(self):
        try:
            self.lv.CreateLV(self.pb.CreateLVRequest(name="sandbox-web", size_gb=1))
        except grpc.RpcError as error:
            return describe(error)

    def precondition(self):
        try:
            self.lv.RemoveLV(self.pb.RemoveLVRequest(name="sandbox-db"))
        except grpc.RpcError as error:
            return describe(error)

    def deadline(self):
        messages = []
        try:
            for message in self.vg.Watch(self.pb.Empty(), timeout=3):
                messages.append(message)
        except grpc.RpcError as error:
            return {"received": len(messages) > 0, "code": error.code().name}

    def cancel(self):
        watch = self.vg.Watch(self.pb.Empty())
        next(watch)
        threading.Timer(0.1, watch.cancel).start()
        try:
            next(watch)
        except grpc.RpcError as error:
            return {"code": error.code().name}

    def gzip(self):
        tags = [f"{'x' * 900}{index}" for index in range(40)]
        request = self.pb.CreateLVRequest(name=VOLUME, size_gb=1, tags=tags)
        self.lv.CreateLV(request, compression=grpc.Compression.Gzip)
        volumes = self.vg.GetLVList(self.pb.GetLVListRequest()).volumes
        self.lv.RemoveLV(self.pb.RemoveLVRequest(name=VOLUME))
        return {"tags": max(len(volume.tags) for volume in volumes), "request_bytes": request.ByteSize()}

    def keepalive(self):
        """Keeps the connection silent except for pings, first without a call and then with a stream."""
        states = []
        self.vg.GetFreeBytes(self.pb.GetFreeBytesRequest())
        self.channel.subscribe(lambda state: states.append(state.name))
        time.sleep(3.5)
        watch = self.vg.Watch(self.pb.Empty())
        next(watch)
        time.sleep(2.5)
        is_open = watch.is_active()
        watch.cancel()
        return {"states": states, "stream_open": is_open}


def main():
    protos, target, *names = sys.argv[1:]
    directory, pb, services = make_stubs(protos)
    options = [
        ("grpc.keepalive_time_ms", 1000),
        ("grpc.keepalive_timeout_ms", 2000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
    ]
    with directory, grpc.insecure_channel(target, options=options) as channel:
        steps = Steps(channel, pb, services)
        for name in names:
            print(json.dumps({"step": name, **(getattr(steps, name)() or {})}), flush=True)


main()
