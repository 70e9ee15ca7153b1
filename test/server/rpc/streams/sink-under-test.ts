import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Test } from "tap";
import { EventService, SubscribeResponseSchema } from "../../../../gen/hostplane/v1/event_pb.ts";
import type { Call } from "../../../../server/rpc/call/call.ts";
import { registerService } from "../../../../server/rpc/call/service-handlers.ts";
import type { MessageSink } from "../../../../server/rpc/streams/message-sink.ts";
import { createSharedMessage, type SharedMessage } from "../../../../server/rpc/streams/shared-message.ts";
import { type AppUnderTest, startAppUnderTest } from "../../harness/app-under-test.ts";

type Answer = MessageInitShape<typeof SubscribeResponseSchema>;

/** A subscriber on the gateway's side, after its first message. */
export interface Subscriber {
  readonly call: Call;
  readonly sink: MessageSink;
  /** Makes the handler yield these messages, and then wait again. */
  yieldAll(messages: readonly Answer[]): void;
  /** Makes the handler end, with an error if there is one. */
  end(error?: Error): void;
}

export interface SinksUnderTest extends AppUnderTest {
  /** Resolves with the next subscriber that has received its first message. */
  accepted(): Promise<Subscriber>;
}

/** Creates a message with a name. */
export function heartbeat(cursor: string): Answer {
  return { message: { case: "heartbeat", value: { cursor } } };
}

export function sharedHeartbeat(cursor: string): SharedMessage {
  return createSharedMessage(SubscribeResponseSchema, create(SubscribeResponseSchema, heartbeat(cursor)));
}

/** Returns the name of an answer of `heartbeat`; `first` for the first message. */
export function nameOf({ message }: { readonly message: { readonly value?: object | undefined } }): string {
  const value = message.value ?? {};
  return "cursor" in value ? String(value.cursor) : "";
}

/** Starts an application whose `EventService.Subscribe` writes the test's messages through a sink. */
export async function startSinksUnderTest(
  t: Test,
  settings: { readonly maxUnsentBytes?: number } = {},
): Promise<SinksUnderTest> {
  const arrived: Subscriber[] = [];
  const waiting: ((subscriber: Subscriber) => void)[] = [];

  async function* subscribe(call: Call): AsyncGenerator<Answer, void> {
    yield heartbeat("first");
    const orders: (readonly Answer[] | { readonly error: Error | undefined })[] = [];
    let wake = () => {};
    const order = (what: (typeof orders)[number]) => {
      orders.push(what);
      wake();
    };
    const subscriber: Subscriber = {
      call,
      sink: call.openSink(settings.maxUnsentBytes),
      yieldAll: order,
      end: (error) => order({ error }),
    };
    const accept = waiting.shift();
    if (accept === undefined) {
      arrived.push(subscriber);
    } else {
      accept(subscriber);
    }
    while (!call.signal.aborted) {
      const next = orders.shift();
      if (next === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          call.signal.addEventListener("abort", () => resolve(), { once: true });
        });
      } else if ("error" in next) {
        if (next.error !== undefined) {
          throw next.error;
        }
        return;
      } else {
        yield* next;
      }
    }
  }

  const service = registerService(EventService, {
    subscribe: (_request, call) => subscribe(call),
    async *followEvents() {},
  });
  const app = await startAppUnderTest(t, [service]);
  return {
    ...app,
    accepted() {
      const subscriber = arrived.shift();
      return subscriber === undefined
        ? new Promise((resolve) => waiting.push(resolve))
        : Promise.resolve(subscriber);
    },
  };
}
