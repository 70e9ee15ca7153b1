import type { TLSSocket } from "node:tls";
import type { ListenAddress } from "../../config/listen-address.ts";
import type { NodeRequest, NodeResponse } from "../protocols/http/http-exchange.ts";
import type { Http2Exchange } from "../protocols/http/http2-exchange.ts";
import type { AdmissionRules } from "./admission.ts";
import type { Certificate } from "./certificates/certificate.ts";
import type { UnknownCallers } from "./unknown-callers/unknown-callers.ts";

export interface ListenerOptions extends AdmissionRules {
  readonly address: ListenAddress;
  /** Permission bits of a unix socket. */
  readonly mode: number;
  /**
   * Certificate and key. If set, the listener only speaks TLS, with HTTP/1.1 and HTTP/2 by ALPN. Its `ca` holds the authorities
   * for `clientCertificate`; certificates that they have not signed, or that have expired, are refused if it is `required` or `optional`.
   */
  readonly tls: Certificate | undefined;
  readonly maxConcurrentStreams: number;
  readonly headerBytes: number;
  readonly keepAliveMs: number;
  /** Time limit for the headers of a request and for the HTTP/2 preface; `headersTimeoutMs` if absent. */
  readonly headersMs?: number;
  /** Limits for callers that are not authenticated. A unix socket is protected by its mode instead. */
  readonly unknownCallers?: UnknownCallers | undefined;
  readonly onRequest: (request: NodeRequest, response: NodeResponse) => void;
  /**
   * Receives usual HTTP/2 streams before Node's compatibility API is created for them. If it returns false, the stream goes to
   * `onRequest`.
   */
  readonly onStream?: (exchange: Http2Exchange) => boolean;
  /**
   * Receives HTTP/1.1 requests over TLS that ask for another protocol, with their connection and what was already read of it.
   * Absent: they are answered like any other request.
   */
  readonly onUpgrade?: (request: NodeRequest, connection: TLSSocket, head: Buffer) => void;
}
