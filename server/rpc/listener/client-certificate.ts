import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import type { HttpRequest } from "../http-exchange.ts";
import { namesFromCertificate } from "./certificate-names.ts";

/** What a client has shown by a certificate that one of the listener's authorities has signed. */
export interface ClientCertificate {
  /** `CN=…`, `DNS:…`, `URI:…`, `email:…`, as the certificate has them. */
  readonly names: readonly string[];
  readonly expiresAtMs: number;
}

/** Whether a client has shown a certificate, and if so whether it counts. */
export type CertificateState =
  | { readonly kind: "none" }
  | { readonly kind: "verified"; readonly certificate: ClientCertificate }
  | { readonly kind: "refused"; readonly why: string };

/** Of a connection, which keeps its certificate for as long as it lives. */
const known = new WeakMap<object, CertificateState>();

const none: CertificateState = { kind: "none" };

/**
 * The certificate of the connection that a request came by. One that has expired since the handshake is refused
 * like one that had expired before.
 */
export function certificateStateOf(request: HttpRequest): CertificateState {
  const session = request.stream?.session;
  // Over HTTP/2 the socket is a proxy made anew for each asking, and cannot be asked once the session is gone.
  const connection = session ?? request.socket;
  let state = known.get(connection);
  if (state === undefined) {
    if (connection.destroyed) {
      return none;
    }
    state = certificateStateOfSocket((session?.socket ?? request.socket) as TLSSocket);
    known.set(connection, state);
  }
  if (state.kind === "verified" && Date.now() >= state.certificate.expiresAtMs) {
    return { kind: "refused", why: "CERT_HAS_EXPIRED" };
  }
  return state;
}

/** The certificate of a connection whose handshake is over; `none` for one without TLS. */
export function certificateStateOfSocket(socket: TLSSocket): CertificateState {
  const shown: X509Certificate | undefined = socket.encrypted ? socket.getPeerX509Certificate() : undefined;
  if (shown === undefined) {
    return none;
  }
  if (!socket.authorized) {
    return { kind: "refused", why: String(socket.authorizationError) };
  }
  const expiresAtMs = shown.validToDate.getTime();
  return { kind: "verified", certificate: { names: namesFromCertificate(shown), expiresAtMs } };
}
