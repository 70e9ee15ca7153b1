import { z } from "zod";
import { clustersSchema } from "./clusters-schema.ts";
import { hypervisorsSchema } from "./hypervisors-schema.ts";
import { formatListenAddress, parseListenAddress } from "./listen-address.ts";
import { listenerSchema } from "./listener-schema.ts";
import { podsSchema } from "./pods-schema.ts";
import { assertUnique } from "./schema-rules.ts";
import { storageSchema } from "./storage-schema.ts";
import { parseStoreAddress } from "./store-address.ts";
import { volumesSchema } from "./volumes-schema.ts";

const path = z.string().min(1);

function isTracingEndpoint(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    return false;
  }
  const { username, password } = new URL(text);
  return username === "" && password === "";
}

/** Every key of the file, the environment and the flags. docs/configuration.md is generated from it. */
export const configSchema = z.strictObject({
  listen: z
    .array(listenerSchema)
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
  store: z
    .string()
    .superRefine((text, context) => {
      const address = parseStoreAddress(text);
      if (typeof address === "string") {
        context.addIssue({ code: "custom", message: address });
      }
    })
    .default("sqlite")
    .meta({
      description:
        "Where users, tokens, audit and idempotency keys are kept: `sqlite` (a file in the data directory, for one gateway) or `postgres://user:password@host:port/database`, which several gateways may share. It may hold a password, so it is no flag and is never shown.",
      writeOnly: true,
    }),
  keyFile: path.exactOptional().meta({
    description:
      "File with the master key (32 bytes in base64) that secrets in the store are encrypted with. Made as `key` in the data directory if absent, unless the variable HOSTPLANE_KEY holds the key itself.",
  }),
  host: z
    .string()
    .max(253)
    .regex(/^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$/, {
      error: "expected a host name: letters, digits, '-' and '.', with a letter or digit at both ends",
    })
    .exactOptional()
    .meta({
      description:
        "Name of this host, by which gateways that share a store tell whose volumes, snapshots and operations are whose. The machine's own name if absent. It must not change while operations are under way.",
    }),
  auth: z
    .strictObject({
      tokenHours: z.int().min(1).max(8760).default(12).meta({
        description: "How long a login lasts, in hours.",
      }),
      audience: z.string().min(1).max(255).default("hostplane").meta({
        description: "Whom session tokens are for; those issued for another audience are refused.",
      }),
    })
    .prefault({})
    .meta({
      description:
        "Login. The password of the first admin is taken from HOSTPLANE_ADMIN_PASSWORD, or the file that HOSTPLANE_ADMIN_PASSWORD_FILE names.",
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
      writeTimeoutMs: z.int().min(1000).max(86_400_000).default(30_000).meta({
        description:
          "How long an answer or a stream may wait for its client to read on, in milliseconds, besides a second for each 16 KiB that wait; it is cut then. Ten seconds at most for callers who are not authenticated.",
      }),
      tools: z.int().min(1).max(1024).default(8).meta({ description: "Processes of host tools at once." }),
      toolsWaiting: z.int().min(0).max(65_535).default(256).meta({
        description: "Calls that may wait for a process; further ones are refused as BUSY.",
      }),
      caller: z
        .strictObject({
          requestsPerSecond: z.int().min(1).max(1_000_000).default(1000).meta({
            description: "Calls that one caller may begin in a second.",
          }),
          reads: z.int().min(1).max(65_535).default(16).meta({
            description:
              "Calls without a stream that change nothing, and that one caller may have running at once; further ones wait.",
          }),
          streams: z.int().min(1).max(65_535).default(256).meta({
            description: "Streams that one caller may have open at once.",
          }),
          mutations: z.int().min(1).max(65_535).default(32).meta({
            description: "Changes that one caller may have under way at once.",
          }),
          cpuMsPerSecond: z.int().min(1).max(1_000_000).default(500).meta({
            description:
              "CPU time of the gateway's event loop, in milliseconds, that the calls of one caller may take in a second.",
          }),
          unreadBytes: z
            .int()
            .min(1024)
            .max(2 ** 40)
            .default(64 * 1024 * 1024)
            .meta({
              description:
                "Bytes of answers that may wait for one caller to read them; beyond it further calls are refused.",
            }),
        })
        .prefault({})
        .meta({
          description: "What one caller may take: an account, or an address when nobody is logged in.",
        }),
      unknown: z
        .strictObject({
          connections: z.int().min(1).max(65_535).default(1024).meta({
            description: "Connections in all. Beyond it the address with most of them loses its oldest.",
          }),
          connectionsPerAddress: z.int().min(1).max(65_535).default(256).meta({
            description: "Connections of one address; further ones wait unread for up to ten seconds.",
          }),
          cpuMsPerSecond: z.int().min(10).max(1_000_000).default(200).meta({
            description:
              "Milliseconds of CPU time a second for connections, requests, bodies and pages, as estimated from their number and size. Addresses share it evenly; one without any left is cut, and its new connections wait unread.",
          }),
          memoryBytes: z
            .int()
            .min(1024 * 1024)
            .max(2 ** 40)
            .default(32 * 1024 * 1024)
            .meta({
              description:
                "Memory that requests take together: 16 KiB each and their bodies. Beyond it the address that takes most loses its oldest.",
            }),
          memoryBytesPerAddress: z
            .int()
            .min(1024 * 1024)
            .max(2 ** 40)
            .default(16 * 1024 * 1024)
            .meta({
              description:
                "Memory that requests of one address take; beyond it its oldest is cut. A connection that sends a sixteenth of it in vain, to requests that are answered already, ends.",
            }),
        })
        .prefault({})
        .meta({
          description:
            "What callers may take over TCP who are not authenticated, or not yet. An address is the first 64 bits of IPv6.",
        }),
    })
    .prefault({})
    .meta({ description: "Each refusal names the limit it met." }),
  audit: z
    .strictObject({
      keepDays: z.int().min(1).max(36_500).default(365).meta({
        description: "How long an entry of the audit log is kept, in days.",
      }),
    })
    .prefault({})
    .meta({ description: "The record of every change, and of calls that were denied." }),
  operations: z
    .strictObject({
      perSystem: z.int().min(1).max(1024).default(4).meta({
        description: "Operations of one system (such as LVM) that run at once on a host; others wait.",
      }),
      maxOpen: z.int().min(1).max(1_000_000).default(1000).meta({
        description:
          "Operations that wait or run in all, and twice as many as one caller may have; further ones are refused as BUSY.",
      }),
      leaseMs: z.int().min(1000).max(600_000).default(5000).meta({
        description:
          "How long a gateway may be silent before another takes its operations over, in milliseconds; that takes at most twice as long. The same for all gateways of a store.",
      }),
      keepDays: z.int().min(1).max(36_500).default(30).meta({
        description: "How long an operation is kept after its end, in days.",
      }),
    })
    .prefault({})
    .meta({ description: "Long work, which outlives the call that began it and the gateway." }),
  events: z
    .strictObject({
      keepDays: z.int().min(1).max(36_500).default(7).meta({
        description: "How long an event is kept, in days: how far back a subscriber can begin or go on.",
      }),
    })
    .prefault({})
    .meta({ description: "The log of what happens, which clients subscribe to." }),
  tracing: z
    .strictObject({
      endpoint: z
        .string()
        .refine(isTracingEndpoint, {
          error:
            "expected the http:// or https:// URL of an OTLP collector without a name and password in it",
        })
        .meta({
          description:
            "Where spans are sent: the URL of a collector that takes OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces.",
        }),
      sampleRatio: z.number().min(0).max(1).default(1).meta({
        description:
          "Share of calls that are traced; a call whose `traceparent` header says so is traced or not as that says.",
      }),
      headersFile: path.exactOptional().meta({
        description:
          "File with headers for the collector, one `name: value` a line, such as its authorization.",
      }),
    })
    .exactOptional()
    .meta({ description: "OpenTelemetry traces. Off if absent." }),
  keepAliveMs: z.int().min(1000).max(3_600_000).default(15_000).meta({
    description:
      "How long a connection or stream may be silent before the gateway checks that it lives, in milliseconds.",
  }),
  directPath: z.boolean().default(true).meta({
    description:
      "Whether unary calls and streams of answers go by the gateway's own short path. If false the library connect-es carries them all, with the same answers at several times the cost: for finding out on which of the two a fault is.",
  }),
  shutdownGraceMs: z.int().min(0).max(600_000).default(1500).meta({
    description:
      "How long calls under way may take to end after SIGTERM, in milliseconds. Streams are told at once.",
  }),
  volumes: volumesSchema.exactOptional().meta({
    description: "LVM volumes of this host (the services of package `proto`). Off if absent.",
  }),
  hypervisors: hypervisorsSchema.exactOptional().meta({
    description:
      "Hypervisors on this host's libvirt and the storage pool that they share (`operations.v1.OperationsService`). Off if absent.",
  }),
  pods: podsSchema.exactOptional().meta({
    description: "Pods and images of this host (`v1alpha.PublicAPI`). Off if absent.",
  }),
  storage: storageSchema.exactOptional().meta({
    description:
      "A Ceph cluster and the Kubernetes cluster that carries it (`stats.StatsService`). Off if absent.",
  }),
  clusters: clustersSchema.exactOptional().meta({
    description: "Kubernetes clusters on machines of MAAS (`cnct.kaas.api.Cluster`). Off if absent.",
  }),
});

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** The whole configuration with every default filled in. Names of sizes and times end in their unit. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;

/** One entry of `listen`. `mode` is the number for chmod(2); it is ignored for a TCP address. */
export type ListenerConfig = Config["listen"][number];

/** The `volumes` key of a gateway that serves them. */
export type VolumesConfig = NonNullable<Config["volumes"]>;

/** The `hypervisors` key of a gateway that serves them. */
export type HypervisorsConfig = NonNullable<Config["hypervisors"]>;

/** The `pods` key of a gateway that serves them. */
export type PodsConfig = NonNullable<Config["pods"]>;

/** The `storage` key of a gateway that serves it. */
export type StorageConfig = NonNullable<Config["storage"]>;

/** The `clusters` key of a gateway that serves them. */
export type ClustersConfig = NonNullable<Config["clusters"]>;

/** One entry of `volumes.deviceClasses`. */
export type DeviceClassConfig = VolumesConfig["deviceClasses"][number];
