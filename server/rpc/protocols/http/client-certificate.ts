import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { namesFromCertificate } from "./certificate-names.ts";
import type { HttpRequest } from "./http-exchange.ts";

/** A client certificate signed by one of the listener's authorities. */
export interface ClientCertificate {
  /** `CN=…`, `DNS:…`, `URI:…`, `email:…`, as in the certificate. */
  readonly names: readonly string[];
  readonly expiresAtMs: number;
}

/** Whether a client has presented a certificate, and whether it is accepted. */
export type CertificateState =
  | { readonly kind: "none" }
  | { readonly kind: "verified"; readonly certificate: ClientCertificate }
  | { readonly kind: "refused"; readonly why: string };

/** By connection, which has the same certificate for its lifetime. */
const known = new WeakMap<object, CertificateState>();

const none: CertificateState = { kind: "none" };

/**
 * Returns the certificate of a request's connection. One that has expired since the handshake is refused, as if it had expired
 * before.
 */
export function certificateStateOf(request: HttpRequest): CertificateState {
  const session = request.stream?.session;
  // Over HTTP/2 the socket is a proxy that is created for each access, and that throws once the session is gone.
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

/** Returns the certificate of a connection after its handshake; `none` for a connection without TLS. */
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
