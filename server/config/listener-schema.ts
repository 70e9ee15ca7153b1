import { z } from "zod";
import { parseAddressRange } from "./address-range.ts";
import { fleetHostName } from "./fleet-schema.ts";
import { parseListenAddress } from "./listen-address.ts";
import { assertListenerRules } from "./listener-rules.ts";

const path = z.string().min(1);
const serviceName = z.string().regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$/, {
  error: "expected the full name of a service, such as proto.VGService",
});
const socketMode = z
  .string({ error: 'expected an octal mode in quotes, such as "0600"' })
  .regex(/^0[0-7]{3}$/, { error: 'expected an octal mode of four digits in quotes, such as "0600"' });

const hostName = z.string().regex(/^([A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\])$/, {
  error: "expected a host name or an IP address (IPv6 in brackets), without a port",
});
const addressRange = z.string().superRefine((text, context) => {
  const range = parseAddressRange(text);
  if (typeof range === "string") {
    context.addIssue({ code: "custom", message: range });
  }
});

const tls = z
  .strictObject({
    cert: path.meta({
      description:
        "PEM file with the certificate and its chain. Reloaded when it changes (checked once a minute), and on SIGHUP.",
    }),
    key: path.meta({ description: "PEM file with the private key. Reloaded together with `cert`." }),
    clientCa: path.exactOptional().meta({
      description:
        "PEM file with the CA certificates that client certificates are verified against. Reloaded together with `cert`. Client certificates are not requested if absent.",
    }),
    clientCertificate: z.enum(["required", "optional"]).exactOptional().meta({
      description:
        "Whether a client must have a certificate issued by `clientCa`. `optional` also admits clients without a certificate; one that has expired or was issued by another CA is refused in either case. `required` if absent and `clientCa` is given.",
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
          "`host:port` or `unix:/path`; port 0 selects a free port. A host beyond loopback (127.0.0.0/8, [::1], localhost) needs `tls` or `insecure`.",
      }),
    services: z.array(serviceName).min(1).exactOptional().meta({
      description:
        "Full names of the services that this listener serves, such as proto.VGService. All if absent.",
    }),
    auth: z.enum(["none"]).exactOptional().meta({
      description:
        "`none` requires no login, for clients that do not support one: everyone who can reach the listener has its `role` for its `services`. Both keys are then required. A login is required if absent.",
    }),
    role: z.enum(["viewer", "operator"]).exactOptional().meta({
      description: "Role of everyone who can reach a listener with `auth: none`.",
    }),
    hosts: z.array(hostName).min(1).exactOptional().meta({
      description:
        "Additional host names of this address, without a port. With `auth: none`, and on loopback, a request must name the address itself, the address that the connection was made to, or one of these; this keeps out foreign web pages.",
    }),
    allowFrom: z.array(addressRange).min(1).exactOptional().meta({
      description:
        "IP addresses and ranges (192.0.2.0/24, 2001:db8::/32) that may connect; a connection from another address is closed before anything is read. All if absent.",
    }),
    allowForwarded: z.boolean().exactOptional().meta({
      description:
        "`true` accepts requests with the headers of a proxy (`forwarded`, `via`, `x-real-ip`, `x-forwarded-*`) where `auth` is `none` on a TCP address. `allowFrom` then applies only to the proxy: everyone who can reach the proxy has the `role`. Such requests are refused if absent.",
    }),
    errorDetails: z.boolean().exactOptional().meta({
      description:
        "`false` leaves out the details that hostplane adds to the errors of gRPC, gRPC-Web and Connect (`google.rpc.ErrorInfo`, `RetryInfo` and others), for clients that cannot read them, such as grpc-gateway before 1.9. `true` if absent.",
    }),
    lvmd: z.enum(["current"]).exactOptional().meta({
      description:
        "`current` follows the current lvmd (TopoLVM since 0.36.5) if a request does not show which protocol its client speaks: RemoveLV of a missing volume is NOT_FOUND, ResizeLV to a smaller size leaves the volume unchanged, thin volumes are listed only by their own class, and reflection, `/openapi.json` and `/docs` show its messages. The branch with backups if absent. Requests of both protocols are accepted in either case.",
    }),
    fleetHost: fleetHostName.exactOptional().meta({
      description:
        "On a hub: the host that every call on this listener goes to, for clients that can send neither a header nor another path.",
    }),
    insecure: z.boolean().exactOptional().meta({
      description:
        "`true` accepts that others on the network may read the traffic and impersonate clients. Required for a cleartext address beyond loopback, and for `auth: none` there.",
    }),
    mode: socketMode.exactOptional().meta({
      description: 'Access mode of a unix socket, octal in quotes. "0600" if absent.',
    }),
    tls: tls.exactOptional().meta({
      description: "Speak TLS (HTTP/1.1 and HTTP/2 by ALPN) on a TCP address instead of cleartext.",
    }),
  })
  .superRefine(assertListenerRules)
  .transform(({ mode, ...rest }) => ({ ...rest, mode: Number.parseInt(mode ?? "0600", 8) }));
