import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import {
  type CertificateState,
  certificateStateOf,
  certificateStateOfSocket,
} from "../protocols/http/client-certificate.ts";
import type { HttpRequest } from "../protocols/http/http-exchange.ts";

export interface AdmissionRules {
  /** Reports whether an address may connect; undefined admits all. */
  readonly isAddressAllowed?: ((address: string) => boolean) | undefined;
  /**
   * Whether a client needs a certificate over TLS; undefined means that none is requested. With `reported` no connection is
   * refused: `certificateStateOf` says what its certificate is.
   */
  readonly clientCertificate?: "required" | "optional" | "reported" | undefined;
  /** Called for each refused connection with the reason. The address is unknown if TLS itself has ended the connection. */
  readonly onConnectionRefused?: (address: string | undefined, why: string) => void;
}

/** Decides which connections of a listener are refused. Its caller closes them. */
export interface Admission {
  /** Decides about a connection that was just accepted, before anything is read. */
  refuses(socket: Socket): boolean;
  /** Decides about a connection after its handshake. */
  refusesAfterHandshake(socket: TLSSocket): boolean;
  /** Decides about the connection of a request, whose certificate may have expired since. */
  refusesRequest(request: HttpRequest): boolean;
  /** Notes a handshake that TLS itself has ended. */
  noteFailedHandshake(socket: TLSSocket): void;
}

/** @param rules the addresses and client certificates that the configuration admits */
export function createAdmission(rules: AdmissionRules): Admission {
  const { isAddressAllowed, clientCertificate, onConnectionRefused } = rules;

  function refusesState(address: string | undefined, state: CertificateState): boolean {
    const isAdmitted =
      clientCertificate === "reported" ||
      state.kind === "verified" ||
      (state.kind === "none" && clientCertificate === "optional");
    if (isAdmitted) {
      return false;
    }
    const why =
      state.kind === "refused"
        ? `its client certificate was refused: ${state.why}`
        : "it has no client certificate";
    onConnectionRefused?.(address, why);
    return true;
  }

  return {
    refuses(socket) {
      const address = socket.remoteAddress;
      // A socket without an address is already closed.
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
