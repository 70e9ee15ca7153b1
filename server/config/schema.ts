import { z } from "zod";
import { formatListenAddress, parseListenAddress } from "./listen-address.ts";
import { assertOneDefault, assertUnique } from "./schema-rules.ts";

const path = z.string().min(1);
const serviceName = z.string().regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$/, {
  error: "expected the full name of a service, such as proto.VGService",
});
const socketMode = z
  .string({ error: 'expected an octal mode in quotes, such as "0600"' })
  .regex(/^0[0-7]{3}$/, { error: 'expected an octal mode of four digits in quotes, such as "0600"' });

const listener = z
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
    mode: socketMode.exactOptional().meta({
      description: 'Access mode of a unix socket, octal in quotes. "0600" if absent.',
    }),
    tls: z
      .strictObject({
        cert: path.meta({
          description: "PEM file with the certificate and its chain. Read again on SIGHUP.",
        }),
        key: path.meta({ description: "PEM file with the private key. Read again on SIGHUP." }),
      })
      .exactOptional()
      .meta({
        description: "Speak TLS (HTTP/1.1 and HTTP/2 by ALPN) on a TCP address instead of cleartext.",
      }),
  })
  .superRefine(({ address, mode, tls }, context) => {
    const isSocket = address.startsWith("unix:");
    const misplaced = (key: string, where: string) =>
      context.addIssue({ code: "custom", path: [key], message: `expected only with ${where}` });
    if (mode !== undefined && !isSocket) {
      misplaced("mode", "a unix: address");
    }
    if (tls !== undefined && isSocket) {
      misplaced("tls", "a host:port address");
    }
  })
  .transform(({ mode, ...rest }) => ({ ...rest, mode: Number.parseInt(mode ?? "0600", 8) }));

const deviceClass = z
  .strictObject({
    name: z
      .string()
      .max(63)
      .regex(/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/, {
        error: "expected letters, digits, '-', '_' and '.', with a letter or digit at both ends",
      })
      .meta({ description: "What clients call the class; at most 63 characters." }),
    volumeGroup: z.string().min(1).meta({ description: "The LVM volume group of the class." }),
    default: z.boolean().default(false).meta({
      description: "The class of requests that name none. Exactly one class has it.",
    }),
    spareGiB: z
      .int()
      .min(0)
      .max(2 ** 30)
      .default(10)
      .meta({ description: "Space that is never reported as free, in GiB." }),
    thinPool: z.string().min(1).exactOptional().meta({
      description: "A thin pool of the volume group; the class then makes thin volumes in it.",
    }),
    overprovision: z.number().min(1).max(1000).exactOptional().meta({
      description: "How many times its size a thin pool may promise to its volumes, at least 1. 1 if absent.",
    }),
  })
  .superRefine(({ thinPool, overprovision }, context) => {
    if (thinPool === undefined && overprovision !== undefined) {
      context.addIssue({ code: "custom", path: ["overprovision"], message: "expected only with thinPool" });
    }
  });

const lvm = z.strictObject({
  command: z.array(z.string().min(1)).min(1).default(["lvm"]).meta({
    description:
      "The lvm program, with whatever goes in front of it: `sudo, -n, lvm`, or in a container with the host's pid namespace `nsenter, -m, -u, -i, -n, -p, -t, 1, --, lvm`.",
  }),
  systemDir: path.exactOptional().meta({
    description: "LVM_SYSTEM_DIR for lvm: the directory of lvm.conf. LVM's own default if absent.",
  }),
  activation: z.enum(["auto", "none"]).default("auto").meta({
    description:
      "`auto` activates volumes, so that they have a block device; `none` changes metadata only, for hosts without device-mapper.",
  }),
});

const volumes = z
  .strictObject({
    deviceClasses: z
      .array(deviceClass)
      .min(1)
      .superRefine((classes, context) => {
        assertUnique(classes, context, "name", ({ name }) => name);
        assertUnique(classes, context, "volumeGroup", ({ volumeGroup, thinPool }) =>
          thinPool === undefined ? volumeGroup : undefined,
        );
        assertUnique(classes, context, "thinPool", ({ volumeGroup, thinPool }) =>
          thinPool === undefined ? undefined : `${volumeGroup}/${thinPool}`,
        );
        assertOneDefault(classes, context);
      })
      .meta({ description: "What clients can order volumes from. At least one, one of them the default." }),
    protect: z
      .array(z.string().min(1))
      .default([])
      .meta({
        description:
          "Names of logical volumes that are never removed or resized; `*` and `?` stand for others.",
        examples: [["root", "swap*"]],
      }),
    lvm: lvm.prefault({}).meta({ description: "How LVM is reached." }),
  })
  .superRefine(({ deviceClasses, lvm: { activation } }, context) => {
    // `lvremove --driverloaded n` of a thin volume fails, and leaves its pool broken.
    const thin = deviceClasses.findIndex(({ thinPool }) => thinPool !== undefined);
    if (activation === "none" && thin !== -1) {
      const message = "expected only with lvm.activation: auto, since thin pools need device-mapper";
      context.addIssue({ code: "custom", path: ["deviceClasses", thin, "thinPool"], message });
    }
  });

/** Every key of the file, of the environment and of the flags. docs/configuration.md is made from it. */
export const configSchema = z.strictObject({
  listen: z
    .array(listener)
    .min(1)
    .superRefine((listeners, context) =>
      assertUnique(listeners, context, "address", ({ address }) => {
        const parsed = parseListenAddress(address);
        const anyPort = typeof parsed === "string" || (parsed.kind === "tcp" && parsed.port === 0);
        return anyPort ? undefined : formatListenAddress(parsed);
      }),
    )
    .prefault([{ address: "127.0.0.1:8080" }])
    .meta({ description: "Where the gateway listens. Each TCP address speaks HTTP/1.1 and HTTP/2." }),
  data: path.default("./data").meta({
    description: "Directory of everything the gateway keeps; the sandbox keeps to `sandbox` inside it.",
  }),
  log: z
    .strictObject({
      level: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info").meta({
        description: "The least severe records that are written.",
      }),
      format: z.enum(["auto", "json", "pretty"]).default("auto").meta({
        description:
          "`json` writes one object a line, `pretty` lines for people, `auto` is pretty on a terminal. Records go to stderr.",
      }),
    })
    .prefault({})
    .meta({ description: "The gateway's own log." }),
  cors: z
    .strictObject({
      origins: z
        .array(
          z.string().regex(/^https?:\/\/[^/\s*]+$/, {
            error: "expected an origin without a path, such as https://dashboard.example.org",
          }),
        )
        .default([])
        .meta({ description: "Origins of web pages that may call the gateway." }),
    })
    .prefault({})
    .meta({ description: "Cross-origin requests of browsers." }),
  limits: z
    .strictObject({
      maxMessageBytes: z
        .int()
        .min(1024)
        .max(2 ** 30)
        .default(4 * 1024 * 1024)
        .meta({
          description: "Largest message in either direction, in bytes.",
        }),
      maxDeadlineMs: z.int().min(1).max(86_400_000).default(60_000).meta({
        description:
          "Longest time a unary call may take, in milliseconds; a client's own deadline may be shorter.",
      }),
      maxConcurrentStreams: z.int().min(1).max(65_535).default(128).meta({
        description: "Calls at once on one HTTP/2 connection.",
      }),
      headerBytes: z
        .int()
        .min(1024)
        .max(1024 * 1024)
        .default(16 * 1024)
        .meta({ description: "All headers of one request together, in bytes." }),
      tools: z.int().min(1).max(1024).default(8).meta({ description: "Processes of host tools at once." }),
      toolsWaiting: z.int().min(0).max(65_535).default(256).meta({
        description: "Calls that may wait for a process; further ones are refused as BUSY.",
      }),
    })
    .prefault({})
    .meta({ description: "Each refusal names the limit it met." }),
  keepAliveMs: z.int().min(1000).max(3_600_000).default(15_000).meta({
    description:
      "How long a connection or stream may be silent before the gateway checks that it lives, in milliseconds.",
  }),
  shutdownGraceMs: z.int().min(0).max(600_000).default(1500).meta({
    description:
      "How long calls under way may take to end after SIGTERM, in milliseconds. Streams are told at once.",
  }),
  volumes: volumes.exactOptional().meta({
    description: "LVM volumes of this host (the services of package `proto`). Off if absent.",
  }),
});

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** The whole configuration with every default filled in. Sizes and times have their unit in the name. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;

/** One entry of `listen`. `mode` is the number for chmod(2), and means nothing on a TCP address. */
export type ListenerConfig = Config["listen"][number];

/** The `volumes` key of a gateway that serves them. */
export type VolumesConfig = NonNullable<Config["volumes"]>;

/** One entry of `volumes.deviceClasses`. */
export type DeviceClassConfig = VolumesConfig["deviceClasses"][number];
