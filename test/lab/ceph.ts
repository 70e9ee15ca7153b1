import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Test } from "tap";
import { createLabScript, labSkipReason } from "./lab-script.ts";

export interface CephOptions {
  /** Disks; 1 unless told otherwise. */
  readonly osds?: number;
  /** Managers, of which one is active; 1 unless told otherwise. */
  readonly mgrs?: number;
  /** Metadata servers; none unless told otherwise. With any there is a filesystem, `cephfs`. */
  readonly mdss?: number;
  /** In memory unless told otherwise; bluestore takes files of the temporary directory. */
  readonly store?: "memstore" | "bluestore";
}

export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface S3Session extends S3Keys {
  readonly sessionToken: string;
}

/** A cluster of the test alone, on ports of loopback. */
export interface CephCluster {
  /** Of client.admin, which may do everything. */
  readonly confPath: string;
  /** `http://127.0.0.1:port` */
  readonly s3Url: string;
  /** `https://127.0.0.1:port`, with a certificate that nobody trusts by itself. */
  readonly s3HttpsUrl: string;
  /** That certificate. It is for 127.0.0.1, localhost, 10.0.2.2 (what a virtual machine calls this host) and s3.test. */
  readonly certificatePath: string;
  /** Makes a user that may make buckets. */
  createS3User(): Promise<S3Keys>;
  /** Makes a user and has the gateway issue temporary keys to it. */
  createS3Session(): Promise<S3Session>;
  /** Kills one daemon, such as "rgw.a", and waits until it is gone. */
  stop(daemon: string): Promise<void>;
  start(daemon: string): Promise<void>;
  /** Lets a daemon hang, until it is resumed. */
  pause(daemon: string): Promise<void>;
  resume(daemon: string): Promise<void>;
  /** Has a daemon abort and posts the report of its crash. */
  crash(daemon: string): Promise<void>;
  /** Runs the `ceph` program, or another of Ceph's, as client.admin; gives its stdout. */
  run(program: "ceph" | "rados" | "rbd", ...args: readonly string[]): Promise<string>;
  /** Makes a user with capabilities such as `["mon", "allow r"]`; gives the path of the file with its key. */
  makeKey(user: string, capabilities: readonly string[]): Promise<string>;
}

/** Why no cluster can be made here, or false when one can. For tap's `skip` option. */
export function cephSkipReason(): string | false {
  const programs = ["ceph-mon", "ceph-mgr", "ceph-osd", "ceph-mds", "radosgw"];
  return labSkipReason(
    programs.map((program) => `/usr/bin/${program}`),
    { needsRoot: true },
  );
}

/**
 * Starts a cluster by ceph.sh, until the test ends or this process does: 2 s in memory, 7 s with three disks in files.
 * Rejects with what ceph.sh printed when it does not start.
 */
export async function startCeph(t: Test, options: CephOptions = {}): Promise<CephCluster> {
  return makeCeph((destroy) => t.teardown(destroy), options);
}

/** Starts a cluster as `startCeph` does; `onEnd` is told how it is destroyed. */
export async function makeCeph(
  onEnd: (destroy: () => Promise<void>) => void,
  { osds = 1, mgrs = 1, mdss = 0, store = "memstore" }: CephOptions = {},
): Promise<CephCluster> {
  const {
    directory,
    run: script,
    destroy,
  } = await createLabScript("ceph", {
    OSDS: String(osds),
    MGRS: String(mgrs),
    MDSS: String(mdss),
    STORE: store,
  });
  onEnd(destroy);
  await script("up");

  const said = async (file: string) => (await readFile(join(directory, file), "utf8")).trim();
  let usersMade = 0;
  const nextUser = () => {
    usersMade += 1;
    return `user${usersMade}`;
  };
  const confPath = join(directory, "ceph.conf");
  const run = async (program: string, ...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)(program, ["-c", confPath, ...args], { maxBuffer: 64 * 1024 * 1024 })).stdout;
  return {
    confPath,
    run,
    async makeKey(user, capabilities) {
      const path = join(directory, "keys", `${user}.made`);
      await run("ceph", "auth", "get-or-create", user, ...capabilities, "-o", path);
      return path;
    },
    pause: async (daemon) => void (await script("pause", daemon)),
    resume: async (daemon) => void (await script("resume", daemon)),
    crash: async (daemon) => void (await script("crash", daemon)),
    s3Url: await said("s3-url"),
    s3HttpsUrl: await said("s3-https-url"),
    certificatePath: join(directory, "cert.pem"),
    createS3User: async () => JSON.parse(await script("s3-user", nextUser())),
    createS3Session: async () => JSON.parse(await script("s3-session", nextUser())),
    stop: async (daemon) => void (await script("stop", daemon)),
    start: async (daemon) => void (await script("start", daemon)),
  };
}
