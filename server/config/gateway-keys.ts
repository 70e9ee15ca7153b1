import { z } from "zod";
import { approvalsSchema } from "./approvals-schema.ts";
import type { ConfigOf } from "./config-of.ts";
import { fleetSchema } from "./fleet-schema.ts";
import { formatListenAddress, parseListenAddress } from "./listen-address.ts";
import { listenerSchema } from "./listener-schema.ts";
import { assertPublicUrl, providerKeys } from "./provider-schema.ts";
import { assertUnique } from "./schema-rules.ts";
import { parseStoreAddress } from "./store-address.ts";
import { storeBackupsSchema } from "./store-backups-schema.ts";

const path = z.string().min(1);

function isTracingEndpoint(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    return false;
  }
  const { username, password } = new URL(text);
  return username === "" && password === "";
}

/** Keys of the gateway itself; each domain has its own (`config.ts` in its folder). */
export const gatewayKeys = {
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
    description:
      "Directory of everything the gateway stores; the sandbox uses only `sandbox` inside it. In a systemd unit with `StateDirectory=`, the default is that directory (the variable `STATE_DIRECTORY`).",
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
        "Where users, tokens, the audit log, operations and events are stored: `sqlite` (a file in the data directory, for one gateway) or `postgres://user:password@host:port/database`, which several gateways may share. It may contain a password, so it has no flag and is never shown.",
      writeOnly: true,
    }),
  storeBackups: storeBackupsSchema,
  keyFile: path.exactOptional().meta({
    description:
      "File with the master key (32 bytes in base64) that encrypts the secrets in the store, and during a change of the key also the other one, on a line of its own. If absent, the gateway uses `key` in the data directory and creates it with a new store, unless the variable HOSTPLANE_KEY holds the key itself.",
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
        "Name of this host, as in operations, events, backups and the audit log; it must be different for each gateway of a store. The machine's host name if absent. It must not change while operations are running.",
    }),
  auth: z
    .strictObject({
      tokenHours: z.int().min(1).max(8760).default(12).meta({
        description: "How long a login lasts, in hours.",
      }),
      audience: z.string().min(1).max(255).default("hostplane").meta({
        description: "Audience of session tokens; tokens issued for another audience are refused.",
      }),
      ...providerKeys,
    })
    .superRefine(assertPublicUrl)
    .prefault({})
    .meta({
      description:
        "Logins. The first admin's password comes from HOSTPLANE_ADMIN_PASSWORD, or from the file that HOSTPLANE_ADMIN_PASSWORD_FILE names.",
    }),
  log: z
    .strictObject({
      level: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info").meta({
        description: "Lowest level of records that are written.",
      }),
      format: z.enum(["auto", "json", "pretty"]).default("auto").meta({
        description:
          "`json` writes one object per line, `pretty` a readable format, `auto` is pretty on a terminal. Records go to stderr.",
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
        description: "Concurrent calls on one HTTP/2 connection.",
      }),
      headerBytes: z
        .int()
        .min(1024)
        .max(1024 * 1024)
        .default(16 * 1024)
        .meta({ description: "Total size of all headers of one request, in bytes." }),
      writeTimeoutMs: z.int().min(1000).max(86_400_000).default(30_000).meta({
        description:
          "How long an answer or a stream may wait for its client to read, in milliseconds, plus a second for each unread 16 KiB; then it is cut. At most ten seconds for callers that are not authenticated.",
      }),
      tools: z.int().min(1).max(1024).default(8).meta({ description: "Concurrent processes of host tools." }),
      toolsWaiting: z.int().min(0).max(65_535).default(256).meta({
        description: "Calls that may wait for a process; further ones are refused with BUSY.",
      }),
      caller: z
        .strictObject({
          requestsPerSecond: z.int().min(1).max(1_000_000).default(1000).meta({
            description: "Calls that one caller may start per second.",
          }),
          reads: z.int().min(1).max(65_535).default(16).meta({
            description: "Concurrent unary reads of one caller; further ones wait.",
          }),
          streams: z.int().min(1).max(65_535).default(256).meta({
            description: "Open streams of one caller.",
          }),
          mutations: z.int().min(1).max(65_535).default(32).meta({
            description: "Concurrent changes of one caller.",
          }),
          cpuMsPerSecond: z.int().min(1).max(1_000_000).default(500).meta({
            description:
              "CPU time of the gateway's event loop that the calls of one caller may use per second, in milliseconds.",
          }),
          unreadBytes: z
            .int()
            .min(1024)
            .max(2 ** 40)
            .default(64 * 1024 * 1024)
            .meta({
              description: "Unread bytes of answers to one caller; beyond this, further calls are refused.",
            }),
        })
        .prefault({})
        .meta({
          description: "Limits per caller: an account, or an address for calls without a login.",
        }),
      unknown: z
        .strictObject({
          connections: z.int().min(1).max(65_535).default(1024).meta({
            description:
              "Total number of connections. Beyond this, the address with the most connections loses its oldest.",
          }),
          connectionsPerAddress: z.int().min(1).max(65_535).default(256).meta({
            description: "Connections from one address; further ones wait unread for up to ten seconds.",
          }),
          cpuMsPerSecond: z.int().min(10).max(1_000_000).default(200).meta({
            description:
              "CPU time per second for connections, requests, bodies and pages, in milliseconds, estimated from their number and size. Addresses share it evenly. An address that has used up its share is cut, and its new connections wait unread.",
          }),
          memoryBytes: z
            .int()
            .min(1024 * 1024)
            .max(2 ** 40)
            .default(32 * 1024 * 1024)
            .meta({
              description:
                "Total memory of requests: 16 KiB each, plus their bodies. Beyond this, the address that uses the most loses its oldest request.",
            }),
          memoryBytesPerAddress: z
            .int()
            .min(1024 * 1024)
            .max(2 ** 40)
            .default(16 * 1024 * 1024)
            .meta({
              description:
                "Memory of the requests of one address; beyond this, its oldest request is cut. A connection is closed once it has sent a sixteenth of this to requests that were already answered.",
            }),
        })
        .prefault({})
        .meta({
          description:
            "Limits of callers over TCP that are not authenticated, or not yet. For IPv6, an address is its first 64 bits.",
        }),
    })
    .prefault({})
    .meta({
      description: "Limits of calls, callers and connections. Each refusal names the exceeded limit.",
    }),
  audit: z
    .strictObject({
      keepDays: z.int().min(1).max(36_500).default(365).meta({
        description: "How long an entry of the audit log is kept, in days.",
      }),
    })
    .prefault({})
    .meta({ description: "The log of every change, and of denied calls." }),
  approvals: approvalsSchema
    .prefault({})
    .meta({ description: "Which changes other people have to approve before they are made." }),
  operations: z
    .strictObject({
      perSystem: z.int().min(1).max(1024).default(4).meta({
        description: "Concurrent operations of one system (such as LVM) on a host; further ones wait.",
      }),
      maxOpen: z.int().min(1).max(1_000_000).default(1000).meta({
        description:
          "Total number of waiting and running operations; one caller may have half as many. Further ones are refused with BUSY.",
      }),
      leaseMs: z.int().min(1000).max(600_000).default(5000).meta({
        description:
          "Lease of a gateway on its operations, in milliseconds. After it expires, another gateway takes them over, within twice this time at most. Must be the same for all gateways of a store.",
      }),
      keepDays: z.int().min(1).max(36_500).default(30).meta({
        description: "How long an operation is kept after its end, in days.",
      }),
    })
    .prefault({})
    .meta({
      description:
        "Long-running operations, which survive the end of their call and restarts of the gateway.",
    }),
  events: z
    .strictObject({
      keepDays: z.int().min(1).max(36_500).default(7).meta({
        description:
          "How long an event is kept, in days, and thus how far back a subscriber can start or resume.",
      }),
    })
    .prefault({})
    .meta({ description: "The event log that clients subscribe to." }),
  history: z
    .strictObject({
      maxBytes: z
        .int()
        .min(1024 * 1024)
        .max(2 ** 40)
        .default(64 * 1024 * 1024)
        .meta({
          description:
            "Memory of the history, in bytes. Beyond this, the oldest changes of single resources are dropped first.",
        }),
      stepMs: z.int().min(1000).max(3_600_000).default(60_000).meta({
        description:
          "How often figures are sampled, in milliseconds. A series of a device class or system takes 8 bytes per sample.",
      }),
    })
    .prefault({})
    .meta({ description: "Figures and states of the last 24 hours, for HistoryService." }),
  fleet: fleetSchema.prefault({}).meta({ description: "Many hosts at one address." }),
  tracing: z
    .strictObject({
      endpoint: z
        .string()
        .refine(isTracingEndpoint, {
          error: "expected the http:// or https:// URL of an OTLP collector without a user name and password",
        })
        .meta({
          description:
            "URL of the collector that spans are sent to by OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces.",
        }),
      sampleRatio: z.number().min(0).max(1).default(1).meta({
        description:
          "Share of calls that are traced. For a call with a `traceparent` header, that header decides.",
      }),
      headersFile: path.exactOptional().meta({
        description:
          "File with headers for the collector, one `name: value` per line, such as its authorization.",
      }),
    })
    .exactOptional()
    .meta({ description: "OpenTelemetry traces. Off if absent." }),
  keepAliveMs: z.int().min(1000).max(3_600_000).default(15_000).meta({
    description:
      "How long a connection or stream may be silent before the gateway checks that it is alive, in milliseconds.",
  }),
  shutdownGraceMs: z.int().min(0).max(600_000).default(1500).meta({
    description:
      "How long running calls may take to end after SIGTERM, in milliseconds. Streams are closed immediately.",
  }),
};

/** The settings of the gateway itself. */
export type GatewayConfig = ConfigOf<z.ZodObject<typeof gatewayKeys>>;

/** One entry of `listen`. `mode` is the number for chmod(2); it is ignored for a TCP address. */
export type ListenerConfig = GatewayConfig["listen"][number];
