import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { HttpRequest } from "../http-exchange.ts";
import { type CertificateState, certificateStateOf, certificateStateOfSocket } from "./client-certificate.ts";

export interface AdmissionRules {
  /** Which addresses may connect; all if undefined. */
  readonly isAddressAllowed?: ((address: string) => boolean) | undefined;
  /** What a client must show over TLS; it is not asked for anything if undefined. */
  readonly clientCertificate?: "required" | "optional" | undefined;
  /** Told of each connection that is not let in, with the reason; the address of one that TLS itself has ended is gone. */
  readonly onConnectionRefused?: (address: string | undefined, why: string) => void;
}

/** Says of a listener's connections which are not let in; its caller closes them. */
export interface Admission {
  /** Of a connection that was just accepted, before anything is read of it. */
  refuses(socket: Socket): boolean;
  /** Of one whose handshake is over. */
  refusesAfterHandshake(socket: TLSSocket): boolean;
  /** Of the one that a request came by, whose certificate may have expired since. */
  refusesRequest(request: HttpRequest): boolean;
  /** Notes a handshake that TLS itself has ended. */
  noteFailedHandshake(socket: TLSSocket): void;
}

export function createAdmission(rules: AdmissionRules): Admission {
  const { isAddressAllowed, clientCertificate, onConnectionRefused } = rules;

  function refusesState(address: string | undefined, state: CertificateState): boolean {
    if (state.kind === "verified" || (state.kind === "none" && clientCertificate === "optional")) {
      return false;
    }
    const why =
      state.kind === "refused" ? `its certificate is refused: ${state.why}` : "it has no certificate";
    onConnectionRefused?.(address, why);
    return true;
  }

  return {
    refuses(socket) {
      const address = socket.remoteAddress;
      // One without an address has gone already.
      if (isAddressAllowed === undefined || (address !== undefined && isAddressAllowed(address))) {
        return false;
      }
      onConnectionRefused?.(address, "its address is not in allowFrom");
      return true;
    },
    refusesAfterHandshake: (socket) =>
      clientCertificate !== undefined && refusesState(socket.remoteAddress, certificateStateOfSocket(socket)),
    refusesRequest: (request) =>
      clientCertificate !== undefined &&
      refusesState(request.socket.remoteAddress, certificateStateOf(request)),
    noteFailedHandshake(socket) {
      if (clientCertificate !== undefined && socket.authorizationError) {
        refusesState(socket.remoteAddress, { kind: "refused", why: String(socket.authorizationError) });
      }
    },
  };
}
