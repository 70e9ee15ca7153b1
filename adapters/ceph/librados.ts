import { promisify } from "node:util";
import koffi from "koffi";

/** Options for finding a cluster, and the user to authenticate as. */
export interface RadosOptions {
  /** File with the addresses of the monitors; Ceph's default paths if undefined. */
  readonly confPath?: string | undefined;
  /** E.g. `client.hostplane`. */
  readonly user: string;
  /** The user's keyring; if undefined, the one from the configuration file. */
  readonly keyringPath?: string | undefined;
  /** Time after which an unanswered call fails with ETIMEDOUT. librados itself would wait 300 s, or forever. */
  readonly timeoutMs: number;
}

/** Result of a call. */
export interface RadosReply {
  /** 0 or a negated errno. */
  readonly code: number;
  readonly output: string;
  /** The cluster's message for users; often empty. */
  readonly words: string;
}

/** A connection to a cluster. Each call occupies a thread until librados ends it. */
export interface RadosConnection {
  command(target: "mon" | "mgr", command: string): Promise<RadosReply>;
  /**
   * Reads a batch of the keys after `after`, in order, of an object's omap; an empty batch is the end. `output`
   * contains them as a JSON array. An object that does not exist has no keys.
   */
  omapKeys(object: RadosObject, after: string): Promise<RadosReply>;
}

export interface RadosObject {
  readonly pool: string;
  /** Empty for the pool's default namespace. */
  readonly namespace: string;
  readonly name: string;
}

/** A library call that failed before there was a connection. */
export interface RadosRefusal {
  readonly code: number;
  /** Name of the call, e.g. `rados_connect`. */
  readonly call: string;
}

type Pointer = bigint | null;
type Async = (...args: readonly unknown[]) => Promise<number>;

const noEntry = -2;
/** The maximum of an OSD's reply (osd_max_omap_entries_per_request). */
const keysAtOnce = 1024;

/**
 * Loads librados through its C API (https://docs.ceph.com/en/latest/rados/api/librados/). It starts threads, and its
 * calls may hang, so it is only loaded in a separate process (`worker.ts`).
 * @throws Error when the library cannot be loaded
 */
export function loadLibrados(): (options: RadosOptions) => Promise<RadosConnection | RadosRefusal> {
  // The default of 128 KiB is too small for librados.
  koffi.config({ ...koffi.config(), async_stack_size: 1024 * 1024 });
  const library = koffi.load("librados.so.2");
  const sync = (declaration: string) => library.func(declaration);
  const async = (declaration: string): Async => promisify(library.func(declaration).async) as Async;
  const commandArguments =
    "void *cluster, const char **commands, size_t count, const char *input, size_t inputLength, " +
    "_Out_ void **output, _Out_ size_t *outputLength, _Out_ void **words, _Out_ size_t *wordsLength";

  const create = sync(
    "int rados_create2(_Out_ void **cluster, const char *name, const char *user, uint64_t flags)",
  );
  const readConf = sync("int rados_conf_read_file(void *cluster, const char *path)");
  const setConf = sync("int rados_conf_set(void *cluster, const char *option, const char *value)");
  const connect = async("int rados_connect(void *cluster)");
  const shutdown = sync("void rados_shutdown(void *cluster)");
  const commands = {
    mon: async(`int rados_mon_command(${commandArguments})`),
    mgr: async(`int rados_mgr_command(${commandArguments})`),
  };
  const freeBuffer = sync("void rados_buffer_free(void *buffer)");
  const createIo = async("int rados_ioctx_create(void *cluster, const char *pool, _Out_ void **io)");
  const destroyIo = sync("void rados_ioctx_destroy(void *io)");
  const setNamespace = sync("void rados_ioctx_set_namespace(void *io, const char *name)");
  const createRead = sync("void *rados_create_read_op()");
  const releaseRead = sync("void rados_release_read_op(void *read)");
  const readKeys = sync(
    "void rados_read_op_omap_get_keys2(void *read, const char *after, uint64_t limit, _Out_ void **keys, void *more, void *code)",
  );
  const operate = async("int rados_read_op_operate(void *read, void *io, const char *object, int flags)");
  const nextKey = sync(
    "int rados_omap_get_next2(void *keys, _Out_ void **key, _Out_ void **value, _Out_ size_t *keyLength, _Out_ size_t *valueLength)",
  );
  const endKeys = sync("void rados_omap_get_end(void *keys)");

  function textAt(pointer: Pointer, lengthBytes: number | bigint): string {
    return pointer === null ? "" : koffi.decode(pointer, "char", Number(lengthBytes));
  }

  function takeBuffer([pointer]: readonly [Pointer], [lengthBytes]: readonly [number | bigint]): string {
    // Copied before it is freed.
    const text = textAt(pointer ?? null, lengthBytes);
    freeBuffer(pointer);
    return text;
  }

  function keysOf(iterator: Pointer): string[] {
    const keys: string[] = [];
    for (;;) {
      const key: [Pointer] = [null];
      const lengthBytes: [number] = [0];
      if (nextKey(iterator, key, [null], lengthBytes, [0]) !== 0 || key[0] === null) {
        return keys;
      }
      keys.push(textAt(key[0], lengthBytes[0]));
    }
  }

  async function readOmapKeys(io: Pointer, name: string, after: string): Promise<RadosReply> {
    const read = createRead();
    const iterator: [Pointer] = [null];
    readKeys(read, after, keysAtOnce, iterator, null, null);
    const code = await operate(read, io, name, 0);
    const keys = code === 0 ? keysOf(iterator[0]) : [];
    endKeys(iterator[0]);
    releaseRead(read);
    return { code: code === noEntry ? 0 : code, output: JSON.stringify(keys), words: "" };
  }

  function connectionOf(cluster: Pointer): RadosConnection {
    return {
      async command(target, command) {
        const [output, words]: [[Pointer], [Pointer]] = [[null], [null]];
        const [outputLength, wordsLength]: [[number], [number]] = [[0], [0]];
        const call = commands[target];
        const code = await call(cluster, [command], 1, null, 0, output, outputLength, words, wordsLength);
        return { code, output: takeBuffer(output, outputLength), words: takeBuffer(words, wordsLength) };
      },
      async omapKeys({ pool, namespace, name }, after) {
        const io: [Pointer] = [null];
        const code = await createIo(cluster, pool, io);
        if (code !== 0) {
          return { code, output: "", words: "" };
        }
        setNamespace(io[0], namespace);
        const reply = await readOmapKeys(io[0], name, after);
        destroyIo(io[0]);
        return reply;
      },
    };
  }

  return async ({ confPath, user, keyringPath, timeoutMs }) => {
    const handle: [Pointer] = [null];
    const created = create(handle, "ceph", user, 0);
    if (created !== 0) {
      return { code: created, call: "rados_create2" };
    }
    const [cluster] = handle;
    const refused = (call: string, code: number): RadosRefusal => {
      shutdown(cluster);
      return { call, code };
    };
    const read = readConf(cluster, confPath ?? null);
    if (read !== 0) {
      return refused("rados_conf_read_file", read);
    }
    const seconds = String(Math.ceil(timeoutMs / 1000));
    const settings = {
      client_mount_timeout: seconds,
      rados_mon_op_timeout: seconds,
      rados_osd_op_timeout: seconds,
      log_file: "",
      log_to_stderr: "false",
      err_to_stderr: "false",
      ...(keyringPath === undefined ? {} : { keyring: keyringPath }),
    };
    for (const [option, value] of Object.entries(settings)) {
      setConf(cluster, option, value);
    }
    const connected = await connect(cluster);
    return connected === 0 ? connectionOf(cluster) : refused("rados_connect", connected);
  };
}
