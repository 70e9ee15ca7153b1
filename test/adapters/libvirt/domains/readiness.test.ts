import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "tap";
import type { Reason } from "../../../../adapters/host/define-reasons.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { isGuestReady } from "../../../../adapters/libvirt/domains/readiness.ts";
import { libvirtReasons } from "../../../../adapters/libvirt/reasons.ts";
import type { LibvirtClient } from "../../../../adapters/libvirt/rpc/client.ts";
import { reasonOf } from "../../host/reason-of.ts";

const { signal } = new AbortController();

/**
 * Creates a client of a host on which the VM `bm-1` is running. Replies of real guests would need an operating system
 * in them.
 */
function clientWith(answers: Readonly<Record<string, () => unknown>>): LibvirtClient {
  const all: typeof answers = {
    domainLookupByName: () => ({ domain: { name: "bm-1", uuid: "", id: 1 } }),
    domainIsActive: () => ({ active: true }),
    ...answers,
  };
  return { call: async (name: string) => all[name]?.(), ready: async () => {} } as unknown as LibvirtClient;
}

function refuse(reason: Reason) {
  return () => {
    throw new InfraError(reason, "no");
  };
}

const interfaceWith = (...addresses: readonly string[]) => ({
  interfaces: [{ name: "vnet0", addresses: addresses.map((address) => ({ type: 0, address, prefix: 24 })) }],
});

test("a guest whose agent answers is ready", async (t) => {
  const client = clientWith({ qemuDomainAgentCommand: () => ({ result: '{"return":{}}' }) });
  t.equal(await isGuestReady(client, "bm-1", { kind: "agent" }, signal), true);
});

test("a guest whose agent does not answer is not ready, and other failures are errors", async (t) => {
  for (const reason of [
    libvirtReasons.AGENT_UNRESPONSIVE,
    libvirtReasons.DOMAIN_STATE,
    libvirtReasons.LIBVIRT_FAILED,
  ]) {
    const client = clientWith({ qemuDomainAgentCommand: refuse(reason) });
    t.equal(await isGuestReady(client, "bm-1", { kind: "agent" }, signal), false, reason.id);
  }
  const lost = clientWith({ qemuDomainAgentCommand: refuse(libvirtReasons.LIBVIRT_UNAVAILABLE) });
  t.equal(await reasonOf(isGuestReady(lost, "bm-1", { kind: "agent" }, signal)), "LIBVIRT_UNAVAILABLE");
});

test("a guest is ready when its port accepts connections, at any of its addresses", async (t) => {
  const server = createServer().listen(0, "localhost");
  t.teardown(() => server.close());
  await once(server, "listening");
  const found = server.address();
  const port = typeof found === "object" ? (found?.port ?? 0) : 0;
  // A name, since loopback addresses are skipped.
  const client = clientWith({
    domainInterfaceAddresses: () => interfaceWith("127.0.0.9", "::1", "localhost"),
  });
  t.equal(await isGuestReady(client, "bm-1", { kind: "tcp", port }, signal), true);
  server.close();
  t.equal(await isGuestReady(client, "bm-1", { kind: "tcp", port }, signal), false, "nothing listens");
});

test("skips the guest's own loopback addresses, which would be this host's", async (t) => {
  const server = createServer().listen(0, "127.0.0.1");
  t.teardown(() => server.close());
  await once(server, "listening");
  const found = server.address();
  const port = typeof found === "object" ? (found?.port ?? 0) : 0;
  const client = clientWith({ domainInterfaceAddresses: () => interfaceWith("127.0.0.1", "::1") });
  t.equal(await isGuestReady(client, "bm-1", { kind: "tcp", port }, signal), false);
});

test("does not wait for a hanging libvirt, and reports CALLER_LEFT to a caller that leaves", async (t) => {
  const hanging = {
    ready: async () => {},
    call: async (_name: string, _args: unknown, options: { readonly signal: AbortSignal }) => {
      options.signal.throwIfAborted();
      await once(options.signal, "abort");
      throw options.signal.reason;
    },
  } as unknown as LibvirtClient;
  // The timeout alone does not keep the process alive.
  const running = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(running));
  t.equal(await isGuestReady(hanging, "bm-1", { kind: "agent" }, signal), false);
  const left = new AbortController();
  const requested = isGuestReady(hanging, "bm-1", { kind: "agent" }, left.signal);
  left.abort(new Error("left"));
  await t.rejects(requested, /left/);
});
