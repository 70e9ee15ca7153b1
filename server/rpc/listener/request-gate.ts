import type { ListenerFacts } from "../call/listener-facts.ts";
import type { NodeRequest, NodeResponse } from "../protocols/http/http-exchange.ts";
import type { Http2Exchange } from "../protocols/http/http2-exchange.ts";

/** Answers requests: the application. */
interface Requests {
  handle(request: NodeRequest, response: NodeResponse, listener: ListenerFacts): void;
  handleStream(exchange: Http2Exchange, listener: ListenerFacts): boolean;
}

/** Holds requests back while the gateway starts, so that the first one is answered like any later one. */
export interface RequestGate extends Requests {
  /** Answers the requests held so far; later ones are answered immediately. */
  open(): void;
}

/** @param app answers the requests once the gate is open */
export function createRequestGate(app: Requests): RequestGate {
  const held: (() => void)[] = [];
  let isOpen = false;
  return {
    handle(request, response, listener) {
      if (isOpen) {
        app.handle(request, response, listener);
      } else {
        held.push(() => app.handle(request, response, listener));
      }
    },
    // A stream that is not answered here is passed to `handle` next.
    handleStream: (exchange, listener) => isOpen && app.handleStream(exchange, listener),
    open() {
      isOpen = true;
      for (const answer of held.splice(0)) {
        answer();
      }
    },
  };
}
