import { Code, ConnectError } from "@connectrpc/connect";
import { test } from "tap";
import { type ConnectionState, createHostplaneClient, type HostplaneClient } from "../../client/client.ts";
import { resumeStream } from "../../client/resume-stream.ts";
import { openCutRelay } from "../chaos/cut-relay.ts";
import { startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";

/** Reads a stream until `count` of its connections have delivered a message; `onMessage` is called for each but the last. */
async function connections(
  client: HostplaneClient,
  count: number,
  onMessage: () => void,
  options: { maxSilenceMs?: number } = {},
): Promise<{ readonly states: readonly ConnectionState["state"][]; readonly opened: number }> {
  const controller = new AbortController();
  const states: ConnectionState["state"][] = [];
  let opened = 0;
  let delivered = 0;
  const open = (signal: AbortSignal) => {
    opened += 1;
    return client.volumeGroups.watch({}, { signal });
  };
  const onState = ({ state }: ConnectionState) => states.push(state);
  for await (const _ of resumeStream(open, { ...options, onState, signal: controller.signal })) {
    delivered += 1;
    if (delivered === count) {
      controller.abort();
    } else {
      onMessage();
    }
  }
  return { states, opened };
}

test("a stream is reopened when its connection is cut, and reports it", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const relay = await openCutRelay(t, url);
  const { states } = await connections(createHostplaneClient({ baseUrl: relay.url }), 3, relay.cut);
  t.same(states, ["connecting", "live", "lost", "connecting", "live", "lost", "connecting", "live"]);
});

test("a silent connection is replaced, and not reported as lost if the next one works", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const relay = await openCutRelay(t, url);
  const client = createHostplaneClient({ baseUrl: relay.url });
  // On a busy machine a new connection may be silent for that long as well, and be replaced.
  for (let maxSilenceMs = 300; ; maxSilenceMs *= 2) {
    const { states, opened } = await connections(client, 2, relay.freeze, { maxSilenceMs });
    if (opened === 2 || maxSilenceMs > 60_000) {
      t.same(states, ["connecting", "live", "connecting", "live"]);
      break;
    }
  }
});

test("a stream that may be silent forever is not interrupted", async (t) => {
  let opened = 0;
  const open = async function* () {
    opened += 1;
    yield "first";
    // A longer timer than 2^31 - 1 ms would fire at once.
    await new Promise((resolve) => setTimeout(resolve, 50));
    yield "second";
  };
  for (const maxSilenceMs of [Number.POSITIVE_INFINITY, 2 ** 31]) {
    const stream = resumeStream(open, { maxSilenceMs });
    t.same([(await stream.next()).value, (await stream.next()).value], ["first", "second"]);
  }
  t.equal(opened, 2);
});

test("when the network is back, a page reopens its streams and retries lost ones at once", async (t) => {
  const page = Object.assign(new EventTarget(), {
    document: Object.assign(new EventTarget(), { visibilityState: "hidden" }),
  });
  const { document } = page;
  const names = ["addEventListener", "removeEventListener"] as const;
  const global = globalThis as unknown as Record<string, unknown>;
  for (const name of names) {
    global[name] = page[name].bind(page);
  }
  global.document = document;
  t.teardown(() => {
    for (const name of [...names, "document"]) {
      delete global[name];
    }
  });

  const { url } = await startGatewayUnderTest(t);
  const relay = await openCutRelay(t, url);
  const client = createHostplaneClient({ baseUrl: relay.url });
  const freeze = () => {
    relay.freeze();
    page.dispatchEvent(new Event("online"));
  };
  const { states } = await connections(client, 2, freeze);
  t.same(states, ["connecting", "live", "connecting", "live"]);

  const check = () => {
    document.visibilityState = "visible";
    document.dispatchEvent(new Event("visibilitychange"));
  };
  let pauses = 0;
  const startedAtMs = Date.now();
  const stream = resumeStream(
    async function* () {
      if (pauses < 8) {
        throw new ConnectError("away", Code.Unavailable);
      }
      yield "back";
    },
    {
      onState({ state }) {
        if (state === "lost") {
          pauses += 1;
          setImmediate(check);
        }
      },
    },
  );
  t.same(await stream.next(), { done: false, value: "back" });
  t.ok(Date.now() - startedAtMs < 20_000, "eight pauses would have lasted more than 20 seconds");
});

test("pauses grow from a quarter of a second to ten, and are at least as long as the gateway asks", async (t) => {
  const controller = new AbortController();
  const pausesMs: number[] = [];
  const client = createHostplaneClient({ baseUrl: "http://127.0.0.1:1" });
  const onState = (state: ConnectionState) => {
    if (state.state === "lost") {
      pausesMs.push(state.retryAtMs - Date.now());
      if (pausesMs.length === 3) {
        controller.abort();
      }
    }
  };
  for await (const _ of client.watch((options) => client.volumeGroups.watch({}, options), {
    signal: controller.signal,
    onState,
  })) {
    t.fail("there is no gateway");
  }
  const [first = 0, second = 0, third = 0] = pausesMs;
  t.ok(first > 200 && first <= 500, `${first}`);
  t.ok(second > 450 && second <= 1000, `${second}`);
  t.ok(third > 950 && third <= 2000, `${third}`);
});

test("throws errors that a retry cannot fix: a permanent refusal, a disabled domain, a bug in the caller's function", async (t) => {
  const { url } = await startGatewayUnderTest(t, {
    volumes: { deviceClasses: [{ name: "ssd", volumeGroup: "vg0", default: true }] },
  });
  const client = createHostplaneClient({ baseUrl: url });
  const first = (stream: AsyncIterable<unknown>) => stream[Symbol.asyncIterator]().next();
  await t.rejects(first(client.watch((options) => client.pods.watchPods({}, options))), {
    code: Code.Unavailable,
  });
  await t.rejects(first(client.watch((options) => client.operations.watchOperation({ id: "x" }, options))), {
    code: Code.NotFound,
  });
  const faulty = () => {
    throw new TypeError("a fault of the caller's");
  };
  await t.rejects(first(client.watch(faulty)), { message: "a fault of the caller's" });
});
