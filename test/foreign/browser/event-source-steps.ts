import type { BrowserClient } from "./browser-client.ts";
import { failureOf, type Step } from "./client-steps.ts";
import { createEventSourceClient } from "./event-source-client.ts";

export interface EventSourceUrls {
  /** A listener without login. */
  readonly open: string;
  /** The same listener, through a relay; `cut` of the page's server cuts its connections. */
  readonly relay: string;
  /** A listener with login. */
  readonly login: string;
}

interface Subscribed {
  readonly snapshot?: object;
  readonly event?: { readonly type: string; readonly volume?: { readonly name: string } };
}

const subscribe = "hostplane.v1.EventService/Subscribe";
const volume = "seen-by-event-source";

/** Creates the steps for EventSource's special behaviour and for rejected streams. */
export function createEventSourceSteps(urls: EventSourceUrls, changes: BrowserClient): Record<string, Step> {
  const refusal = (client: BrowserClient, method: string, request = {}) =>
    failureOf(
      client,
      client.stream(method, request, () => true),
    );
  return {
    resumeAfterCut: async () => {
      const messages = await createEventSourceClient(urls.relay).stream<Subscribed>(
        subscribe,
        { topics: ["volumes"] },
        async ({ snapshot, event }) => {
          const isCreated = event?.type === "volume.created" && event.volume?.name === volume;
          if (snapshot !== undefined) {
            await changes
              .unary("proto.LVService/CreateLV", { name: volume, sizeGb: "1" })
              .catch(() => undefined);
          } else if (isCreated) {
            await fetch("/cut", { method: "POST" });
            await changes.unary("proto.LVService/RemoveLV", { name: volume });
          }
          return event?.type === "volume.removed" && event.volume?.name === volume;
        },
      );
      return messages.flatMap(({ event }) => (event?.volume?.name === volume ? [event.type] : []));
    },
    withoutLogin: () => refusal(createEventSourceClient(urls.login), "proto.VGService/Watch"),
    withCredentials: () => refusal(createEventSourceClient(urls.open, true), "proto.VGService/Watch"),
    badRequest: () => refusal(createEventSourceClient(urls.open), subscribe, { topics: ["nothing"] }),
  };
}
