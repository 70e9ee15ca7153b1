import type { Duplex } from "node:stream";
import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type { Test } from "tap";
import { FleetService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { connectToHub } from "../../../server/fleet/agent/connect-to-hub.ts";
import { enroll, type StoredMembership } from "../../../server/fleet/agent/enroll.ts";
import { createLinkServer } from "../../../server/fleet/agent/link-server.ts";
import { createSigningRequest } from "../../../server/fleet/authority/issue-certificate.ts";
import { parseJoinToken } from "../../../server/fleet/join-token.ts";

/** Enrolls a host without an agent, for tests that are the host themselves. */
export async function enrollHost(
  hub: { admin<S extends DescService>(service: S): Client<S> },
  name: string,
): Promise<StoredMembership> {
  const { token } = await hub.admin(FleetService).createHostToken({});
  return await enroll(parseJoinToken(token), name, await createSigningRequest());
}

/** Connects to the first hub. The connection is closed with the test. @throws Error when the hub refuses it */
export async function connectHost(t: Pick<Test, "teardown">, membership: StoredMembership): Promise<Duplex> {
  const connection = await connectToHub(
    membership.hubs[0] ?? "",
    membership,
    "0.1.0",
    new AbortController().signal,
  );
  t.teardown(() => connection.destroy());
  return connection;
}

/** Serves a connection as an agent that answers each request with an empty message. */
export function serveEmptyMessages(connection: Duplex): void {
  createLinkServer({
    onRequest: (_request, response) => {
      response.writeHead(200, { "content-type": "application/proto" });
      response.end();
    },
    onStream: () => false,
  }).serve(connection, "hub");
}
