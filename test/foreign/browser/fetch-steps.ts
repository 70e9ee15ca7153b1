import type { JsonObject } from "@bufbuild/protobuf";
import type { BrowserClient } from "./browser-client.ts";
import type { Step } from "./client-steps.ts";
import { readServerSentEvents } from "./server-sent-events.ts";

const subscribe = "hostplane.v1.EventService/Subscribe";

interface Subscribed {
  /** Snapshot in the first message. */
  readonly snapshot?: object;
  readonly event?: {
    readonly cursor: string;
    readonly type: string;
    readonly volume?: { readonly name: string };
  };
}

/** Creates the steps of a page that uses only `fetch`: it logs in, and continues a stream after a break. */
export function createFetchSteps(
  baseUrl: string,
  token: string,
  password: string,
  byEnvelopes: BrowserClient,
): Record<string, Step> {
  const post = (path: string, body: JsonObject, headers: Record<string, string> = {}) =>
    fetch(`${baseUrl}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const authorization = `Bearer ${token}`;
  const change = async (method: string, body: JsonObject) => {
    const { ok } = await post(`proto.LVService/${method}`, body, { authorization });
    if (!ok) {
      throw new Error(`${method} failed`);
    }
  };

  /** Reads server-sent events until one about the volume. */
  async function readEventOf(name: string, headers: Record<string, string>, then = async () => {}) {
    const accept = { authorization, accept: "text/event-stream", ...headers };
    const answer = await post(subscribe, { topics: ["volumes"] }, accept);
    let isFirst = true;
    for await (const { id, data } of readServerSentEvents(answer)) {
      if (isFirst) {
        await then();
        isFirst = false;
      }
      const { event }: Subscribed = JSON.parse(data);
      if (event?.volume?.name === name) {
        return { id: id ?? "", type: event.type };
      }
    }
    throw new Error("the stream ended before the event");
  }

  return {
    login: async () => {
      const refused = await post("proto.VGService/GetLVList", {});
      const answer = await post("services.auth.AuthService/Login", { username: "admin", password });
      const { token: own } = (await answer.json()) as { token: string };
      const { status } = await post("proto.VGService/GetLVList", {}, { authorization: `Bearer ${own}` });
      return { withoutToken: refused.status, withToken: status };
    },
    resumeByLastEventId: async () => {
      const name = "resumed-by-id";
      const created = await readEventOf(name, {}, () => change("CreateLV", { name, sizeGb: "1" }));
      await change("RemoveLV", { name });
      const removed = await readEventOf(name, { "last-event-id": created.id });
      return [created.type, removed.type];
    },
    resumeByCursor: async () => {
      const name = "resumed-by-cursor";
      const isOfVolume = ({ event }: Subscribed) => event?.volume?.name === name;
      const first = await byEnvelopes.stream<Subscribed>(
        subscribe,
        { topics: ["volumes"] },
        async (message) => {
          if (message.snapshot !== undefined) {
            await change("CreateLV", { name, sizeGb: "1" });
          }
          return isOfVolume(message);
        },
      );
      await change("RemoveLV", { name });
      const cursor = first.at(-1)?.event?.cursor ?? "";
      const second = await byEnvelopes.stream<Subscribed>(
        subscribe,
        { topics: ["volumes"], cursor },
        isOfVolume,
      );
      return [...first, ...second].filter(isOfVolume).map(({ event }) => event?.type);
    },
  };
}
