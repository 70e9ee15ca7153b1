import { once } from "node:events";
import * as http2 from "node:http2";
import { answerParent } from "../servers/bench-process.ts";
import type { FanOutClients, Subscription } from "./fan-out.ts";

/** The subscribers of one server: raw streams, so that the clients do not slow the server down. */

const sessions: http2.ClientHttp2Session[] = [];
let subscriberCount = 0;
/** Number of subscribers that have received at least that many events, by index. */
const reachedBy: number[] = [];
const waiting = new Map<number, () => void>();
/** Rejects when a stream has ended; nothing is measured after that. */
const broken = Promise.withResolvers<never>();
broken.promise.catch(() => {});

/** The first data byte of an envelope identifies the field that is set: 2 is the event, 1 the first message, 3 a heartbeat. */
const eventTag = (2 << 3) | 2;

function countEvents(stream: http2.ClientHttp2Stream): void {
  let received = 0;
  let rest: Buffer = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    rest = rest.byteLength === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.byteLength >= 5) {
      const end = 5 + rest.readUInt32BE(1);
      if (rest.byteLength < end) {
        break;
      }
      if (rest[5] === eventTag) {
        received += 1;
        const reached = (reachedBy[received] ?? 0) + 1;
        reachedBy[received] = reached;
        if (reached === subscriberCount) {
          waiting.get(received)?.();
        }
      }
      rest = rest.subarray(end);
    }
  });
}

async function subscribe(session: http2.ClientHttp2Session, token: string | undefined): Promise<void> {
  const stream = session.request({
    ":method": "POST",
    ":path": "/hostplane.v1.EventService/Subscribe",
    "content-type": "application/grpc+proto",
    te: "trailers",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  });
  stream.end(Buffer.alloc(5));
  stream.on("error", broken.reject);
  stream.on("close", () => broken.reject(new Error("a subscriber's stream has ended")));
  countEvents(stream);
  await once(stream, "data");
}

answerParent(
  {
    async subscribe({ target, subscribers, connections }: Subscription) {
      subscriberCount = subscribers;
      for (let index = 0; index < connections; index += 1) {
        const session = http2.connect(`http://127.0.0.1:${target.port}`);
        session.on("error", () => {});
        await once(session, "connect");
        sessions.push(session);
      }
      await Promise.all(
        Array.from({ length: subscribers }, async (_, index) => {
          const session = sessions[index % connections];
          if (session !== undefined) {
            await subscribe(session, target.token);
          }
        }),
      );
    },
    received(count: number) {
      const all = Promise.withResolvers<void>();
      if (reachedBy[count] === subscriberCount) {
        all.resolve();
      } else {
        waiting.set(count, all.resolve);
      }
      return Promise.race([all.promise, broken.promise]);
    },
  } satisfies FanOutClients,
  () => {
    for (const session of sessions) {
      session.destroy();
    }
  },
);
