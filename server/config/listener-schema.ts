import { z } from "zod";
import { parseListenAddress } from "./listen-address.ts";

const path = z.string().min(1);
const serviceName = z.string().regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$/, {
  error: "expected the full name of a service, such as proto.VGService",
});
const socketMode = z
  .string({ error: 'expected an octal mode in quotes, such as "0600"' })
  .regex(/^0[0-7]{3}$/, { error: 'expected an octal mode of four digits in quotes, such as "0600"' });

const tls = z
  .strictObject({
    cert: path.meta({
      description:
        "PEM file with the certificate and its chain. Read again when it changes (looked at once a minute), and on SIGHUP.",
    }),
    key: path.meta({ description: "PEM file with the private key. Read again together with `cert`." }),
    clientCa: path.exactOptional().meta({
      description:
        "PEM file with the certificates of the authorities whose client certificates are accepted. Read again together with `cert`. No client is asked for a certificate if absent.",
    }),
    clientCertificate: z.enum(["required", "optional"]).exactOptional().meta({
      description:
        "Whether a client must have a certificate of `clientCa`. `optional` also admits clients without any; a certificate that is expired or of another authority is refused in either case. `required` if absent and `clientCa` is given.",
    }),
  })
  .superRefine(({ clientCa, clientCertificate }, context) => {
    if (clientCertificate !== undefined && clientCa === undefined) {
      context.addIssue({
        code: "custom",
        path: ["clientCertificate"],
        message: "expected only with clientCa",
      });
    }
  })
  .transform(({ clientCa, clientCertificate = "required", ...pair }) =>
    clientCa === undefined ? pair : { ...pair, clientCa, clientCertificate },
  );

/** One entry of the key `listen`. */
export const listenerSchema = z
  .strictObject({
    address: z
      .string()
      .superRefine((text, context) => {
        const address = parseListenAddress(text);
        if (typeof address === "string") {
          context.addIssue({ code: "custom", message: address });
        }
      })
      .meta({
        description:
          "`host:port` or `unix:/path`. Until the gateway has a login, only loopback hosts (127.0.0.0/8, [::1], localhost) and unix sockets are accepted. Port 0 takes a free one.",
      }),
    services: z.array(serviceName).min(1).exactOptional().meta({
      description: "Full names of the services that are served here, such as proto.VGService. All if absent.",
    }),
    auth: z.enum(["none"]).exactOptional().meta({
      description:
        "`none` asks for no login, for clients that know none: who reaches the listener has its `role` for its `services`, both of which it needs. Login is asked for if absent.",
    }),
    role: z.enum(["viewer", "operator"]).exactOptional().meta({
      description: "What everybody may do here who reaches a listener with `auth: none`.",
    }),
    mode: socketMode.exactOptional().meta({
      description: 'Access mode of a unix socket, octal in quotes. "0600" if absent.',
    }),
    tls: tls.exactOptional().meta({
      description: "Speak TLS (HTTP/1.1 and HTTP/2 by ALPN) on a TCP address instead of cleartext.",
    }),
  })
  .superRefine(({ address, auth, services, role, mode, tls }, context) => {
    const isSocket = address.startsWith("unix:");
    const misplaced = (key: string, where: string) =>
      context.addIssue({ code: "custom", path: [key], message: `expected only with ${where}` });
    if (mode !== undefined && !isSocket) {
      misplaced("mode", "a unix: address");
    }
    if (tls !== undefined && isSocket) {
      misplaced("tls", "a host:port address");
    }
    if (role !== undefined && auth !== "none") {
      misplaced("role", "auth: none");
    }
    const needed = (key: string, message: string) =>
      context.addIssue({ code: "custom", path: [key], message });
    if (auth === "none" && services === undefined) {
      needed("services", "expected the services that are open to everybody here, since auth is none");
    }
    if (auth === "none" && role === undefined) {
      needed("role", "expected viewer or operator, since auth is none");
    }
  })
  .transform(({ mode, ...rest }) => ({ ...rest, mode: Number.parseInt(mode ?? "0600", 8) }));
