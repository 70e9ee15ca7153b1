import { once } from "node:events";
import * as http2 from "node:http2";
import * as https from "node:https";
import { json, text } from "node:stream/consumers";
import * as tls from "node:tls";
import { type Test, test } from "tap";
import { createListener } from "../../../../../server/rpc/listener/listener.ts";
import type { ListenerOptions } from "../../../../../server/rpc/listener/listener-options.ts";
import { certificateStateOf } from "../../../../../server/rpc/protocols/http/client-certificate.ts";
import { type Authority, createAuthority, type IssuedCertificate } from "../../listener/authority.ts";
import { createCertificate } from "../../listener/certificate.ts";

/** Starts a listener that answers with the client's certificate as it sees it. */
async function listen(t: Test, authority: Authority, clientCertificate: "required" | "optional") {
  const server = await createCertificate("server.test");
  const refused: string[] = [];
  const options: ListenerOptions = {
    address: { kind: "tcp", host: "127.0.0.1", port: 0 },
    mode: 0o600,
    tls: { ...server, ca: authority.cert },
    clientCertificate,
    onConnectionRefused: (address, why) => refused.push(`${address ?? ""}: ${why}`),
    maxConcurrentStreams: 100,
    headerBytes: 16_384,
    keepAliveMs: 15_000,
    onRequest: (request, response) => {
      const state = certificateStateOf(request);
      response.end(JSON.stringify(state.kind === "verified" ? state.certificate.names : state.kind));
    },
  };
  const listener = createListener(options);
  await listener.listen();
  t.teardown(() => listener.close(0));
  const port = Number(listener.address().split(":").at(-1));
  const trust = { host: "127.0.0.1", port, ca: server.cert, checkServerIdentity: () => undefined };
  const reload = (ca: Buffer) => listener.reloadCertificate({ ...server, ca });
  return { trust, refused, reload };
}

type Trust = Awaited<ReturnType<typeof listen>>["trust"];

const getRequest = {
  async http1(trust: Trust, client: Partial<IssuedCertificate>): Promise<unknown> {
    const request = https.get({ ...trust, ...client, agent: false });
    const [response] = await once(request, "response");
    return json(response);
  },
  async http2(trust: Trust, client: Partial<IssuedCertificate>): Promise<unknown> {
    const session = http2.connect(`https://127.0.0.1:${trust.port}`, { ...trust, ...client });
    try {
      // A session error also reaches its stream, unless there is none.
      const failed = once(session, "close").then(() => Promise.reject(new Error("closed")));
      session.on("error", () => {});
      const answer = JSON.parse(
        (await Promise.race([text(session.request({ ":path": "/" })), failed])) || '"closed"',
      );
      if (answer === "closed") {
        throw new Error(answer);
      }
      return answer;
    } finally {
      session.destroy();
    }
  },
};

for (const [version, get] of Object.entries(getRequest)) {
  test(`over ${version} a required certificate must be issued by the authority, and valid`, async (t) => {
    const authority = await createAuthority(t, "clients");
    const stranger = await createAuthority(t, "strangers");
    const { trust, refused } = await listen(t, authority, "required");
    t.same(await get(trust, await authority.issue("/CN=alice")), ["CN=alice"]);
    t.same(refused, []);
    await t.rejects(get(trust, {}), "none");
    await t.rejects(get(trust, await stranger.issue("/CN=alice")), "issued by another authority");
    await t.rejects(get(trust, await authority.issue("/CN=alice", "", -1)), "expired");
    await t.rejects(
      get(trust, await authority.issue("/CN=s", "extendedKeyUsage = serverAuth")),
      "a server certificate",
    );
    t.match(refused.join("\n"), /its client certificate was refused: CERT_HAS_EXPIRED/);
  });

  test(`over ${version} an optional certificate may be left out, but must not be invalid`, async (t) => {
    const authority = await createAuthority(t, "clients");
    const stranger = await createAuthority(t, "strangers");
    const { trust, refused } = await listen(t, authority, "optional");
    t.same(await get(trust, await authority.issue("/CN=alice")), ["CN=alice"]);
    t.same(await get(trust, {}), "none");
    t.same(refused, []);
    await t.rejects(get(trust, await stranger.issue("/CN=alice")), "issued by another authority");
    await t.rejects(get(trust, await authority.issue("/CN=alice", "", -1)), "expired");
    await t.rejects(
      get(trust, await authority.issue("/CN=s", "extendedKeyUsage = serverAuth")),
      "a server certificate",
    );
    t.match(refused, [
      /^127\.0\.0\.1: its client certificate was refused: UNABLE_TO_/,
      /: its client certificate was refused: CERT_HAS_EXPIRED/,
      /: its client certificate was refused: INVALID_PURPOSE/,
    ]);
  });

  test(`over ${version} a certificate that expires ends its connection`, async (t) => {
    const authority = await createAuthority(t, "clients");
    const { trust, refused } = await listen(t, authority, "optional");
    const client = await authority.issue("/CN=alice");
    const nowMs = Date.now();
    const later = t.intercept(Date, "now", { value: () => nowMs + 2 * 86_400_000 });
    await t.rejects(get(trust, client));
    later.restore();
    t.match(refused, [/CERT_HAS_EXPIRED/]);
    t.same(await get(trust, client), ["CN=alice"]);
  });
}

for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
  test(`over ${maxVersion} a reload changes the accepted authorities, also for cached sessions`, async (t) => {
    const [first, second] = [await createAuthority(t, "first"), await createAuthority(t, "second")];
    const { trust, reload } = await listen(t, first, "required");
    const client = await first.issue("/CN=alice");
    let session: Buffer | undefined;
    const get = async () => {
      const socket = tls.connect({ ...trust, ...client, maxVersion, ...(session && { session }) });
      socket.on("session", (kept) => {
        session = kept;
      });
      socket.on("error", () => {});
      socket.on("secureConnect", () =>
        socket.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"),
      );
      let answer = "";
      let isResumed = false;
      socket.on("secureConnect", () => {
        isResumed = socket.isSessionReused();
      });
      socket.on("data", (chunk) => {
        answer += chunk;
      });
      await new Promise((resolve) => socket.once("close", resolve));
      return { answer, isResumed };
    };
    t.match(await get(), { answer: /CN=alice/, isResumed: false });
    t.match(await get(), { answer: /CN=alice/, isResumed: false }, "no session is resumed");

    const open = http2.connect(`https://127.0.0.1:${trust.port}`, { ...trust, ...client });
    t.teardown(() => open.destroy());
    const again = async () => JSON.parse(await text(open.request({ ":path": "/" })));
    t.same(await again(), ["CN=alice"]);
    reload(second.cert);
    t.same(await again(), ["CN=alice"], "an open connection continues");
    t.equal((await get()).answer, "");
    const { cert, key } = await second.issue("/CN=bob");
    t.same(await getRequest.http1(trust, { cert, key }), ["CN=bob"]);
  });
}

test("a client that offers less than TLS 1.2 is refused, before and after a reload", async (t) => {
  const authority = await createAuthority(t, "clients");
  const { trust, reload } = await listen(t, authority, "optional");
  const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
  const connect = async () => {
    const socket = tls.connect({ ...trust, ...old });
    t.teardown(() => socket.destroy());
    await once(socket, "secureConnect");
  };
  await t.rejects(connect());
  reload(authority.cert);
  await t.rejects(connect());
});
