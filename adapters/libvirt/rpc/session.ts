import { InfraError } from "../../host/infra-error.ts";
import { type Connection, type ConnectionOptions, openConnection } from "./connection.ts";
import { procedures } from "./procedures.ts";
import { libvirtRpcReasons } from "./reasons.ts";

export interface SessionOptions extends ConnectionOptions {
  /** The libvirt URI that the daemon opens, e.g. `qemu:///system`. */
  readonly uri: string;
}

const authType = { none: 0, sasl: 1, polkit: 2 } as const;
const handshakeMs = 30_000;

/**
 * Opens a connection, authenticates and has the daemon open its driver. The daemon identifies the user by the socket;
 * if it relies on polkit, a polkit check is requested.
 * @throws InfraError as openConnection does; LIBVIRT_DENIED when the daemon requires a password or polkit refuses; the
 * daemon's refusal of `uri`
 */
export async function openSession(options: SessionOptions, signal?: AbortSignal): Promise<Connection> {
  const { uri, ...connectionOptions } = options;
  const connection = await openConnection(connectionOptions, signal);
  const patience = { signal, timeoutMs: handshakeMs };
  try {
    const { types } = await connection.call(procedures.authList, {}, patience);
    if (types.includes(authType.polkit)) {
      await connection.call(procedures.authPolkit, {}, patience);
    } else if (types.length > 0 && !types.includes(authType.none)) {
      const advice = "give a group access to the socket instead (auth_unix_rw in libvirtd.conf)";
      throw new InfraError(
        libvirtRpcReasons.LIBVIRT_DENIED,
        `libvirt at ${options.socketPath} requires a password: ${advice}`,
      );
    }
    await connection.call(procedures.connectOpen, { uri, flags: 0 }, patience);
    return connection;
  } catch (error) {
    connection.end(
      new InfraError(libvirtRpcReasons.LIBVIRT_UNAVAILABLE, "the connection to libvirt could not be opened"),
    );
    throw error;
  }
}
