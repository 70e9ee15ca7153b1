import { once } from "node:events";
import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Test, test } from "tap";
import { createPodman } from "../../../adapters/podman/podman.ts";
import { reasonOf } from "../host/reason-of.ts";
import { listen, until } from "./contract.ts";
import { eventsText, logOf, replyOf } from "./samples.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server with recorded replies on a socket; a test can override them. */
async function startServer(t: Test) {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-podman-test-"));
  const socketPath = join(directory, "podman.sock");
  const requests: string[] = [];
  const streams = new Set<ServerResponse>();
  const answers = new Map<string, Answer>();
  const documents = [
    "createdPod",
    "runningPod",
    "barePod",
    "createdContainer",
    "runningTicker",
    "runningServer",
    "runningInfra",
  ].map(replyOf);
  const lists: Record<string, string> = {
    "pods/json": "pods",
    "containers/json": "containers",
    "images/json": "images",
    info: "info",
  };
  const server = createServer((request, response) => {
    const path = (request.url ?? "").replace("/v4.0.0/libpod/", "");
    const name = path.replace(/\?.*/, "");
    requests.push(path);
    const answer = answers.get(name);
    const list = lists[name];
    const id = /^\w+\/([0-9a-f]{64})\/json$/.exec(name)?.[1];
    if (answer !== undefined) {
      answer(request, response);
    } else if (list !== undefined) {
      response.end(replyOf(list));
    } else if (path.startsWith("events?stream=false")) {
      response.end("");
    } else if (name === "events") {
      streams.add(response);
      response.once("close", () => streams.delete(response));
      response.flushHeaders();
    } else if (name.startsWith("images/")) {
      response.end(replyOf("image").replace(/^\{"Id":"\w+"/, `{"Id":"${id}"`));
    } else {
      const found = documents.findLast((text) => text.startsWith(`{"Id":"${id}"`));
      const cause = name.startsWith("pods/") ? "no such pod" : "no such container";
      response.statusCode = found === undefined ? 404 : 200;
      response.end(found ?? JSON.stringify({ cause, message: cause, response: 404 }));
    }
  });
  await once(server.listen(socketPath), "listening");
  const runtime = createPodman({ socketPath });
  t.teardown(async () => {
    await runtime.close();
    server.closeAllConnections();
    server.close();
    await rm(directory, { recursive: true });
  });
  return {
    runtime,
    requests,
    answers,
    streams,
    async untilStream(): Promise<ServerResponse> {
      for (;;) {
        const [stream] = streams;
        if (stream !== undefined && !stream.writableEnded) {
          return stream;
        }
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
  };
}

const refuse =
  (status: number, cause: string): Answer =>
  (_, response) => {
    response.statusCode = status;
    response.end(JSON.stringify({ cause, message: cause, response: status }));
  };

test("a read makes no calls while nothing happens", async (t) => {
  const { runtime, requests, untilStream } = await startServer(t);
  await untilStream();
  await runtime.read();
  await until(runtime, () => true);
  // The stream may read the records for the first time after this point.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const before = requests.length;
  await Promise.all(Array.from({ length: 50 }, () => runtime.read()));
  t.equal(requests.length, before);
});

test("a list that fails because an entry is being removed is requested again", async (t) => {
  const { runtime, answers } = await startServer(t);
  let failures = 0;
  answers.set("pods/json", (request, response) => {
    failures += 1;
    if (failures <= 2) {
      refuse(500, "no such container")(request, response);
    } else {
      response.end(replyOf("pods"));
    }
  });
  t.ok((await runtime.read()).value.pods.length > 0);
});

test("a pod that cannot be read is reported, and the others are still read", async (t) => {
  const { runtime, answers } = await startServer(t);
  const pods = JSON.parse(replyOf("pods"));
  const [first] = pods;
  answers.set(`pods/${first.Id}/json`, refuse(500, "container state is being removed"));
  const { value } = await runtime.read();
  t.match(value.unreadable, [{ podId: first.Id, why: /being removed/ }]);
  t.notOk(value.pods.some(({ id }) => id === first.Id));
  t.ok(value.pods.length > 0);
});

test("rejects replies that are not Podman's, including non-JSON", async (t) => {
  for (const text of ["<html>", '{"message":"x"}', '[{"Id":"../etc"}]']) {
    const { runtime, answers } = await startServer(t);
    answers.set("pods/json", (_, response) => response.end(text));
    t.equal(await reasonOf(runtime.read()), "PODMAN_FAILED", text);
  }
});

test("records that are repeated, truncated or invalid are reported once or not at all", async (t) => {
  const server = await startServer(t);
  const listener = listen(t, server.runtime);
  const lines = eventsText().trimEnd().split("\n");
  const [half = ""] = lines.slice(-1);
  const first = await server.untilStream();
  await server.runtime.read();
  first.write(`${lines.slice(0, -1).join("\n")}\nno JSON\n{"Type":7}\n`);
  first.end(half.slice(0, 40));
  await once(first, "close");
  const second = await server.untilStream();
  t.not(second, first);
  second.write(`${lines.join("\n")}\n`);
  await listener.until((events) => events.filter(({ kind }) => kind === "podRemoved").length === 4);
  const keys = listener.events().map(({ key }) => key);
  t.equal(new Set(keys).size, keys.length);
  t.notOk(
    server.requests.some((path) => /events\?(?!stream=false)(?!.*since=)/.test(path)),
    "never without a since",
  );
  t.notOk(server.requests.some((path) => path.includes("stream=false") && path.includes("until")));
});

test("a log continues where its connection broke, without a lost or repeated line", async (t) => {
  const { runtime, answers, requests } = await startServer(t);
  const container = JSON.parse(replyOf("runningTicker"));
  const log = logOf("ticker");
  let connections = 0;
  answers.set(`containers/${container.Id}/logs`, (_, response) => {
    connections += 1;
    if (connections === 2) {
      // Complete past output.
      response.end(log.subarray(0, 32 * 4));
    } else if (connections < 4) {
      // Two more frames each time, and a half.
      response.write(log.subarray(0, 32 * (2 * connections) + 10));
      setTimeout(() => response.destroy(), 20);
    } else {
      response.end(log);
      answers.set(`containers/${container.Id}/json`, refuse(404, "no such container"));
    }
  });
  const lines: string[] = [];
  for await (const pieces of runtime.logs(container.Id, { follow: true }, AbortSignal.timeout(20_000))) {
    lines.push(...pieces.map(({ bytes }) => Buffer.from(bytes).toString()));
  }
  t.strictSame(lines.toSorted(), ["err 0", "err 1", "err 2", "tick 0", "tick 1", "tick 2"]);
  t.equal(connections, 4);
  t.notOk(requests.some((path) => path.includes("tail=")));
});

test("a log is read from its file, since Podman delivers a partially written record as a complete one", async (t) => {
  const { runtime, answers } = await startServer(t);
  const container = JSON.parse(replyOf("runningTicker"));
  const directory = await mkdtemp(join(tmpdir(), "hostplane-podman-log-"));
  const path = join(directory, "ctr.log");
  t.teardown(() => rm(directory, { recursive: true }));
  container.HostConfig.LogConfig.Path = path;
  const json = `containers/${container.Id}/json`;
  answers.set(json, (_, response) => response.end(JSON.stringify(container)));
  // As 4.3.1 does for the file below: the end of `two` and all of `three` are missing.
  const timeMs = Date.parse("2026-11-21T15:29:23Z");
  const reported = Buffer.concat(["one", "tw", "four"].map((text) => frameOf(timeMs, text)));
  answers.set(`containers/${container.Id}/logs`, (_, response) => response.end(reported));
  const record = (text: string) => `2026-11-21T15:29:23.861683021+00:00 stdout F ${text}\n`;
  await writeFile(path, record("one") + record("two").slice(0, -2));
  const lines: string[] = [];
  const batches: number[] = [];
  for await (const pieces of runtime.logs(container.Id, { follow: true }, AbortSignal.timeout(20_000))) {
    batches.push(pieces.length);
    lines.push(...pieces.map(({ bytes }) => Buffer.from(bytes).toString()));
    if (pieces.length === 0) {
      await appendFile(path, record("two").slice(-2) + record("three") + record("four"));
    } else if (lines.length === 4) {
      answers.set(json, refuse(404, "no such container"));
      answers.set(`containers/${container.Id}/logs`, refuse(404, "no such container"));
      await rm(path);
    }
  }
  t.strictSame(lines, ["one", "two", "three", "four"]);
  t.strictSame(batches, [1, 0, 3]);
});

test("a log followed before its container starts waits for the start", async (t) => {
  const { runtime, answers, requests, untilStream } = await startServer(t);
  const container = JSON.parse(replyOf("createdContainer"));
  const logs = `containers/${container.Id}/logs`;
  const json = `containers/${container.Id}/json`;
  answers.set(json, (_, response) => response.end(replyOf("createdContainer")));
  answers.set(logs, (_, response) => response.end());
  const lines: string[] = [];
  const followed = (async () => {
    for await (const pieces of runtime.logs(container.Id, { follow: true }, AbortSignal.timeout(20_000))) {
      lines.push(...pieces.map(({ bytes }) => Buffer.from(bytes).toString()));
    }
  })();
  const stream = await untilStream();
  await new Promise((resolve) => setTimeout(resolve, 600));
  const opened = requests.filter((path) => path.startsWith(logs)).length;
  t.ok(opened <= 3, `it was opened ${opened} times`);
  answers.set(logs, (_, response) => {
    answers.set(json, refuse(404, "no such container"));
    response.end(logOf("ticker"));
  });
  const started = eventsText()
    .split("\n")
    .find((line) => line.includes(container.Id) && line.includes('"Action":"start"'));
  stream.write(`${started}\n`);
  await followed;
  t.equal(lines.length, 6);
});

test("a log that is not recorded is refused, even when it is followed", async (t) => {
  const { runtime, answers } = await startServer(t);
  const container = JSON.parse(replyOf("runningTicker"));
  answers.set(`containers/${container.Id}/logs`, refuse(500, "this container is not logging output"));
  for (const follow of [true, false]) {
    const reading = (async () => {
      for await (const _ of runtime.logs(container.Id, { follow }, AbortSignal.timeout(20_000))) {
        t.fail("there is nothing");
      }
    })();
    t.equal(await reasonOf(reading), "LOGS_UNAVAILABLE");
  }
});

test("a slow reader makes Podman wait", async (t) => {
  const { runtime, answers } = await startServer(t);
  const container = JSON.parse(replyOf("runningTicker"));
  let written = 0;
  const line = `2026-11-21T15:29:23Z ${"x".repeat(64 * 1024)}\n`;
  const frame = Buffer.concat([Buffer.from([1, 0, 0, 0]), Buffer.alloc(4), Buffer.from(line)]);
  frame.writeUInt32BE(line.length, 4);
  answers.set(`containers/${container.Id}/logs`, (_, response) => {
    const write = () => {
      while (written < 256 * 1024 * 1024 && !response.destroyed) {
        written += frame.length;
        if (!response.write(frame)) {
          response.once("drain", write);
          return;
        }
      }
    };
    write();
  });
  const leaving = new AbortController();
  for await (const pieces of runtime.logs(container.Id, { follow: true }, leaving.signal)) {
    t.ok(pieces.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    leaving.abort();
  }
  t.ok(written < 16 * 1024 * 1024, `${written} bytes were read from it`);
});

/** Encodes a frame of a log: a line of stdout. */
function frameOf(timeMs: number, text: string): Buffer {
  const line = `${new Date(timeMs).toISOString().slice(0, 19)}Z ${text}\n`;
  const frame = Buffer.concat([Buffer.from([1, 0, 0, 0]), Buffer.alloc(4), Buffer.from(line)]);
  frame.writeUInt32BE(line.length, 4);
  return frame;
}

test("follows a log as soon as Podman answers", async (t) => {
  const { runtime, answers, untilStream } = await startServer(t);
  // So that nothing else queries the container.
  await untilStream();
  await runtime.read();
  const container = JSON.parse(replyOf("runningTicker"));
  const json = `containers/${container.Id}/json`;
  const text = replyOf("runningTicker");
  let requestCount = 0;
  answers.set(json, (_, response) => {
    requestCount += 1;
    if (requestCount < 3) {
      response.destroy();
    } else {
      response.end(text);
    }
  });
  answers.set(`containers/${container.Id}/logs`, (_, response) => response.end(logOf("ticker")));
  const leaving = new AbortController();
  for await (const pieces of runtime.logs(container.Id, { follow: true }, leaving.signal)) {
    t.equal(pieces.length, 6);
    break;
  }
  t.equal(requestCount, 3);
  const without = (async () => {
    requestCount = 0;
    for await (const _ of runtime.logs(container.Id, {}, leaving.signal)) {
      t.fail("it is unreachable");
    }
  })();
  t.equal(await reasonOf(without), "PODMAN_UNAVAILABLE");
});

test("a log that is written faster than it is read has an end", async (t) => {
  const { runtime, answers } = await startServer(t);
  const container = JSON.parse(replyOf("runningTicker"));
  let isClosed = false;
  answers.set(`containers/${container.Id}/logs`, (_, response) => {
    response.write(frameOf(Date.now() - 5_000, "before"));
    const timer = setInterval(() => response.write(frameOf(Date.now(), "now")), 20);
    response.on("close", () => {
      isClosed = true;
      clearInterval(timer);
    });
  });
  const lines: string[] = [];
  for await (const pieces of runtime.logs(container.Id, {}, AbortSignal.timeout(20_000))) {
    lines.push(...pieces.map(({ bytes }) => Buffer.from(bytes).toString()));
  }
  t.equal(lines[0], "before");
  t.ok(lines.length > 1);
  while (!isClosed) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
});

test("unread output of a followed log is read when its time is reached", async (t) => {
  const { runtime, answers } = await startServer(t);
  const container = JSON.parse(replyOf("runningTicker"));
  const beganMs = Date.now();
  const untilMs = (Math.floor(beganMs / 1_000) + 4) * 1_000;
  const first = frameOf(beganMs - 5_000, "first");
  answers.set(`containers/${container.Id}/logs`, (request, response) => {
    if (request.url?.includes("follow=true")) {
      response.write(first);
    } else if (Date.now() < untilMs) {
      response.end(first);
    } else {
      response.end(Buffer.concat([first, frameOf(untilMs - 1_000, "second"), frameOf(untilMs, "third")]));
    }
  });
  const batches: string[][] = [];
  const options = { follow: true, untilNs: BigInt(untilMs) * 1_000_000n };
  for await (const pieces of runtime.logs(container.Id, options, AbortSignal.timeout(20_000))) {
    batches.push(pieces.map(({ bytes }) => Buffer.from(bytes).toString()));
  }
  t.strictSame(batches, [["first"], [], ["second"]]);
  t.ok(Date.now() - untilMs < 30_000);
});

test("a failed pull is detected by the last line of a 200 reply", async (t) => {
  const { runtime, answers } = await startServer(t);
  const words: string[] = [];
  const pull = (text: string) => {
    answers.set("images/pull", (_, response) => response.end(text));
    return runtime.run(
      { kind: "pullImage", reference: "quay.io/a/b:1" },
      { onProgress: (each) => words.push(each) },
    );
  };
  const trying = '{"stream":"Trying to pull quay.io/a/b:1...\\n"}\n';
  t.equal(await reasonOf(pull(`${trying}{"error":"no route to host"}\n`)), "IMAGE_PULL_FAILED");
  t.equal(await reasonOf(pull(trying)), "PODMAN_UNAVAILABLE", "it was truncated");
  const id = "ab".repeat(32);
  t.strictSame(await pull(`${trying}{"images":["${id}"],"id":"${id}"}\n`), { imageId: id });
  t.equal(words[0], "Trying to pull quay.io/a/b:1...");
  answers.set("images/pull", () => {});
  const leaving = new AbortController();
  const run = runtime.run({ kind: "pullImage", reference: "quay.io/a/b:1" }, { signal: leaving.signal });
  setTimeout(() => leaving.abort(), 50);
  t.equal(await reasonOf(run), "CALLER_LEFT");
});

test("a stop is not reported as done while a container is still running", async (t) => {
  const { runtime, requests, answers } = await startServer(t);
  const { Id: podId } = JSON.parse(replyOf("runningPod"));
  answers.set(`pods/${podId}/stop`, (_, response) => response.end(JSON.stringify({ Errs: null, Id: podId })));
  await t.rejects(runtime.run({ kind: "stopPod", podId, graceSeconds: 1 }), {
    name: "InfraError",
    reason: "POD_STATE",
    message: / is running/,
  });
  t.ok(requests.includes(`pods/${podId}/stop?t=1`));
});
