import { type FakeAnswer, type FakeRequest, jsonAnswer, objectFrom } from "./answer.ts";
import type { FakeMember } from "./cluster.ts";
import { etcdPort, type FakeTarget } from "./world.ts";

// Replies of etcd 3.6.8's JSON gateway.

const header = { cluster_id: "324952591200643719", member_id: "3319814642761637952", raft_term: "2" };
const peerPort = 2380;

function renderMember({ id, name, boot }: FakeMember) {
  const { address } = boot.machine;
  return {
    ID: id,
    name,
    peerURLs: [`https://${address}:${peerPort}`],
    clientURLs: [`https://${address}:${etcdPort}`],
  };
}

/** Answers a request to a machine's etcd. */
export function answerEtcd({ cluster }: FakeTarget, request: FakeRequest): FakeAnswer {
  const { members } = cluster;
  const body = objectFrom(request);
  if (request.method !== "POST" || !/^\/v3\/cluster\/member\/(list|remove)$/.test(request.path)) {
    return jsonAnswer({ code: 5, message: "Not Found" }, 404);
  }
  if (body === undefined) {
    return jsonAnswer({ code: 3, message: "unexpected EOF" }, 400);
  }
  const isList = request.path.endsWith("/list");
  if (!cluster.hasQuorum() && !(isList && body.linearizable !== true)) {
    return jsonAnswer({ code: 14, message: "etcdserver: request timed out" }, 503);
  }
  if (isList) {
    return jsonAnswer({ header, members: members.map(renderMember) });
  }
  const index = members.findIndex(({ id }) => id === body.ID);
  if (index === -1) {
    return jsonAnswer({ code: 5, message: "etcdserver: member not found" }, 404);
  }
  const others = members.filter((_, at) => at !== index);
  const living = others.filter(({ boot }) => !boot.isGone);
  if (living.length < Math.floor(others.length / 2) + 1) {
    const message = "etcdserver: re-configuration failed due to not enough started members";
    return jsonAnswer({ code: 2, message }, 500);
  }
  members.splice(index, 1);
  return jsonAnswer({ header, members: members.map(renderMember) });
}
