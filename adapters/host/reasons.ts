/**
 * The codes with which a call may fail, by their gRPC names. UNKNOWN is missing on purpose: the gateway never returns
 * it.
 */
export type ErrorCode =
  | "CANCELLED"
  | "INVALID_ARGUMENT"
  | "DEADLINE_EXCEEDED"
  | "NOT_FOUND"
  | "ALREADY_EXISTS"
  | "PERMISSION_DENIED"
  | "RESOURCE_EXHAUSTED"
  | "FAILED_PRECONDITION"
  | "ABORTED"
  | "OUT_OF_RANGE"
  | "UNIMPLEMENTED"
  | "INTERNAL"
  | "UNAVAILABLE"
  | "DATA_LOSS"
  | "UNAUTHENTICATED";

interface Reason {
  readonly code: ErrorCode;
  /** Whether the same call may succeed later without any change to it. */
  readonly retryable: boolean;
  /** One sentence for a user who sees the reason for the first time; docs/reference/errors.md repeats it. */
  readonly meaning: string;
}

/**
 * Every reason that an error can have in `google.rpc.ErrorInfo.reason`. A reason has exactly one code, so a client may
 * branch on either. docs/reference/errors.md lists the same rows, which test/adapters/host/reasons.test.ts checks.
 */
export const reasons = {
  // Invalid requests
  MALFORMED_REQUEST: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning: "The body, a header or a query parameter could not be decoded; the message says where.",
  },
  INVALID_FIELD: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning: "A field has a value outside its limits; each violation names the field and the limit.",
  },
  UNKNOWN_FIELD: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning:
      "A mutation carries a JSON field or a query parameter that its message does not have; nothing was done.",
  },
  UNKNOWN_HEADER: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning: "The request has a `hostplane-*` header that the gateway does not know; nothing was done.",
  },
  METHOD_NOT_FOUND: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The gateway has no such method.",
  },
  DOMAIN_NOT_BUILT: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning:
      "The method is part of the contract, but this version of the gateway does not implement its domain yet.",
  },
  NOT_BUILT: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The domain is implemented, but this method or this part of its request is not yet.",
  },
  UNSUPPORTED_COMPRESSION: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The request uses an unsupported compression; the message lists the supported ones.",
  },
  COMPRESSION_NOT_NAMED: {
    code: "INTERNAL",
    retryable: false,
    meaning:
      "A message is marked as compressed, but no header names the compression; the gRPC specification prescribes this code.",
  },
  REQUEST_CARDINALITY: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The request has no message, or more than one, and the method takes exactly one.",
  },
  MESSAGE_TOO_LARGE: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    meaning: "A message is larger than the limit of the listener.",
  },

  // Availability of domains and gateways
  DOMAIN_OFF: {
    code: "UNAVAILABLE",
    retryable: false,
    meaning: "The domain is not configured; the message names the configuration key that enables it.",
  },
  SERVICE_NOT_ON_LISTENER: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The service exists, but this listener does not serve it (`listen[].services`).",
  },
  HOST_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning: "The request's host is not the listener's: a listener without login accepts only its own.",
  },
  ORIGIN_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning: "The request comes from a web page whose origin `cors.origins` does not list.",
  },
  FORWARDED_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning:
      "The request has a proxy header; a listener without login rejects these unless it has `allowForwarded: true`.",
  },

  // Authentication and authorization
  LOGIN_REQUIRED: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The method requires a login, and the call has none.",
  },
  INVALID_CREDENTIALS: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The user name or password is wrong; the error does not say which.",
  },
  TOKEN_INVALID: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning:
      "The token was not issued by this gateway, is for another audience, or its account no longer exists.",
  },
  TOKEN_EXPIRED: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The token has expired; log in again.",
  },
  TOKEN_REVOKED: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The token was revoked by a logout, a new password or an admin; log in again.",
  },
  CERTIFICATE_UNKNOWN: {
    code: "UNAUTHENTICATED",
    retryable: false,
    meaning: "The client certificate is valid, but none of its names belongs to a user.",
  },
  ROLE_REQUIRED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning: "The caller's role may not call the method; the message names the role that may.",
  },
  SERVICE_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning: "The caller's role is limited to other services; the message lists them.",
  },
  TOO_MANY_LOGINS: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning: "Too many failed logins of this user or from this address; the error says when to retry.",
  },
  CALLER_LIMIT: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning:
      "The caller has reached one of `limits.caller`; the message names it, and the error says when to retry.",
  },

  // Users and tokens
  USER_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "No user has this name.",
  },
  USER_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "A user of this name already exists.",
  },
  LAST_ADMIN: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The user is the last admin, and must remain one until there is another.",
  },
  CERTIFICATE_NAME_TAKEN: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "Another user has this certificate name.",
  },
  API_TOKEN_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "No API token has this name, or it is revoked.",
  },
  API_TOKEN_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "An API token of this name already exists.",
  },

  // Idempotency and dry runs
  IDEMPOTENCY_KEY_REUSED: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning:
      "The `idempotency-key` was used within 24 hours for a call with another request; nothing was done.",
  },
  IDEMPOTENCY_KEY_NOT_TAKEN: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning:
      "The method does not accept an `idempotency-key`, because its response contains secrets, which are not stored.",
  },
  IDEMPOTENCY_OUTCOME_UNKNOWN: {
    code: "ABORTED",
    retryable: false,
    meaning:
      "The gateway stopped during the first call with this `idempotency-key`; check whether it took effect, then continue with another key.",
  },
  NOT_PLANNABLE: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The method does not support dry runs: it changes nothing, or its changes cannot be predicted.",
  },

  // Deadlines and load
  DEADLINE: {
    code: "DEADLINE_EXCEEDED",
    retryable: true,
    meaning: "The deadline of the call passed. A mutation that has started still runs to completion.",
  },
  CALLER_LEFT: {
    code: "CANCELLED",
    retryable: true,
    meaning: "The caller cancelled the call or closed its connection.",
  },
  SHUTTING_DOWN: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The gateway is stopping; retry, here or at another replica.",
  },
  BUSY: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning: "Too many tools, changes or logins are waiting; the message names the limit.",
  },

  // The store
  STORE_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The gateway's database cannot currently be reached, read or written; the log says why.",
  },
  STORE_IN_USE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "Another process has the database file open, and only one may; the message names the file.",
  },
  STORE_MISSING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "There is no database yet; the gateway creates it at its first start.",
  },
  STORE_KIND_MISMATCH: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The database was created by a sandbox and the gateway is a real one, or the other way round.",
  },
  MASTER_KEY_MISMATCH: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The database was created with another master key than the given one.",
  },
  STORE_NEWER: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "A newer version of the gateway has used the database; docs/how-to/upgrade.md describes how to downgrade.",
  },
  STORE_NOT_EMPTY: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The target database already has tables.",
  },
  STORE_DAMAGED: {
    code: "DATA_LOSS",
    retryable: false,
    meaning:
      "The database file is damaged or not a database; docs/how-to/upgrade.md describes how to restore a backup.",
  },
  BACKUP_REFUSED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The backup was not written: its file exists or cannot be created, or the database is PostgreSQL.",
  },

  // Volumes
  DEVICE_CLASS_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "No device class has this name; the message lists those that exist.",
  },
  VOLUME_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The device class has no volume of this name.",
  },
  VOLUME_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "The volume group already has a volume of this name.",
  },
  VOLUME_GROUP_GONE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "The volume group (or thin pool) of the device class is missing; the class is available again once it is back.",
  },
  NO_SPACE: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    meaning: "The volume group or thin pool has less free space than requested; the message has both sizes.",
  },
  SHRINK_NOT_ALLOWED: {
    code: "OUT_OF_RANGE",
    retryable: false,
    meaning: "ResizeLV never shrinks a volume.",
  },
  VOLUME_IN_USE: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning: "The volume is open (mounted, or used by a process or another device).",
  },
  VOLUME_PROTECTED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The volume is protected: it matches `volumes.protect`, is a thin pool, is internal to LVM, or has snapshots.",
  },
  VOLUME_INACTIVE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The volume is not active and so has no block device to read; the message has the command that activates it.",
  },

  // Operations and events
  OPERATION_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning:
      "There is no operation with this id, it belongs to a service that the caller may not call, or it is no longer stored.",
  },
  OPERATION_IN_PROGRESS: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning:
      "Another operation on the same resource is running; the message names it. Wait for it to end, or cancel it.",
  },
  OPERATION_ENDED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The operation has ended, so there is nothing to cancel.",
  },
  OPERATION_CANCELLED: {
    code: "ABORTED",
    retryable: false,
    meaning: "The operation that the call waited for was cancelled and fully rolled back.",
  },
  OPERATION_NOT_RETRYABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "Only an operation that is FAILED or NEEDS_ATTENTION can be retried, unless it needs secrets that are no longer stored.",
  },
  POINT_OF_NO_RETURN: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The operation has passed its point of no return, so it cannot be cancelled; it runs to completion.",
  },
  HISTORY_GONE: {
    code: "OUT_OF_RANGE",
    retryable: false,
    meaning:
      "Events after the cursor are no longer stored; `oldestCursor` in the error's metadata is the oldest cursor to continue from.",
  },
  SUBSCRIBER_TOO_SLOW: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning:
      "The subscriber did not keep up with the events; it can continue from `cursor` in the error's metadata.",
  },

  // Backups
  BACKUP_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no such backup, or its repository no longer contains it.",
  },
  BACKUP_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "The volume already has a backup of this name.",
  },
  BACKUP_TOO_YOUNG: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning:
      "The backup is younger than `volumes.backup.minimumAgeHours`, and cannot be deleted before that age.",
  },
  BACKUP_DAMAGED: {
    code: "DATA_LOSS",
    retryable: false,
    meaning: "The content of the repository is not what was backed up; the message says what is wrong.",
  },
  SNAPSHOT_FULL: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning:
      "The volume changed more during its backup than its snapshot has room for: raise `snapshotPercent` of its backups.",
  },
  VOLUME_TOO_SMALL: {
    code: "OUT_OF_RANGE",
    retryable: false,
    meaning: "The requested volume is smaller than its content; nothing was created.",
  },
  ENDPOINT_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning: "The endpoint, the proxy or unverified TLS is not permitted by `volumes.backup.allowEndpoints`.",
  },
  REPOSITORY_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no backup repository at the given location.",
  },
  REPOSITORY_KEY_WRONG: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The repository cannot be opened with the given encryption key.",
  },
  REPOSITORY_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The repository's store rejects the access key or the request.",
  },
  REPOSITORY_UNREACHABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The repository's store does not answer.",
  },
  REPOSITORY_LOCKED: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "Another client has locked the repository exclusively.",
  },

  // Hypervisors
  LIBVIRT_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The libvirt daemon cannot be reached, or does not answer in time; the gateway keeps trying.",
  },
  LIBVIRT_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The libvirt daemon denies access or this action; the message says what to change.",
  },
  LIBVIRT_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning: "The libvirt daemon refused for another reason; the message has its error.",
  },
  DOMAIN_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no VM with this name or UUID.",
  },
  DOMAIN_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "A VM of this name already exists.",
  },
  DOMAIN_STATE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The VM's state does not allow this, e.g. because it is already running or not running.",
  },
  STORAGE_POOL_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no storage pool of this name.",
  },
  STORAGE_VOLUME_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The storage pool has no volume of this name.",
  },
  STORAGE_VOLUME_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "The storage pool already has a volume of this name.",
  },
  STORAGE_VOLUME_IN_USE: {
    code: "ABORTED",
    retryable: true,
    meaning:
      "The volume could not be read or written consistently: a VM that uses it is running, was started or stopped meanwhile, or is being backed up by another client.",
  },
  NETWORK_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no network of this name.",
  },
  NODE_DEVICE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The host has no device of this name.",
  },
  AGENT_UNRESPONSIVE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The VM's guest agent does not answer: it is not installed, or the guest is not up yet.",
  },
  HYPERVISOR_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The inventory has no hypervisor with this id.",
  },
  HYPERVISOR_RUNNING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The hypervisor is already running, so there is nothing to create.",
  },
  HYPERVISOR_OFF: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The hypervisor is off and was not created by the gateway, so there is nothing to destroy.",
  },
  HYPERVISOR_NOT_READY: {
    code: "UNAVAILABLE",
    retryable: false,
    meaning: "The hypervisor was started, but was not ready within its template's timeout.",
  },
  POOL_CANNOT_GROW: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    meaning:
      "There is less spare space than requested; the message says how much there is, and why other devices are not usable.",
  },
  POOL_CANNOT_SHRINK: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "No device can be removed within the requested size; the message says why, with the sizes.",
  },
  POOL_FIXED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The pool is a directory, which is as large as its file system; resize that instead.",
  },
  DEVICE_NOT_USABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The device is in use, contains data, or is not a block device; it is never wiped or forced.",
  },

  // Storage clusters
  CEPH_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The Ceph cluster cannot be reached, or does not answer in time; the gateway keeps trying.",
  },
  CEPH_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The Ceph cluster denies access or this action; the message says what to change.",
  },
  CEPH_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning: "The Ceph cluster refused for another reason, or sent a reply that the gateway cannot parse.",
  },
  CEPH_OPERATOR_MISSING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The gateway has only a read key for the Ceph cluster, and no operator key for changes.",
  },
  CRASH_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The Ceph cluster has no crash report with this id.",
  },
  FIGURE_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "A required value cannot currently be read from the storage cluster; the message says which and why.",
  },
  KUBERNETES_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "The Kubernetes cluster cannot be reached, or does not answer in time; the gateway keeps trying.",
  },
  KUBERNETES_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The Kubernetes cluster denies access or this read; the message says what to change.",
  },
  KOOR_CLUSTER_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The Kubernetes cluster has no KoorCluster in the namespace of `storage.kubernetes`.",
  },

  // MAAS
  MAAS_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "MAAS cannot be reached, is busy, or does not answer in time; the request may still have been carried out.",
  },
  MAAS_DENIED: {
    code: "INTERNAL",
    retryable: false,
    meaning: "MAAS denies the gateway's account access or this action; the message says what to change.",
  },
  MAAS_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning: "MAAS failed for another reason, or sent a reply that the gateway cannot parse.",
  },
  MAAS_REFUSED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "MAAS rejects a value in the request, such as a tag, pool, zone or image that it does not have; the message names the field.",
  },
  MACHINE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "MAAS has no machine with this system id.",
  },
  MACHINE_TAKEN: {
    code: "ABORTED",
    retryable: false,
    meaning: "The machine is allocated to another user or not free; another one may be.",
  },
  NO_MACHINE: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning: "MAAS has no free machine that meets the constraints.",
  },
  MACHINE_STATE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The machine's state does not allow this, e.g. deploying a deployed machine.",
  },
  MACHINE_LOCKED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The machine is locked in MAAS, so the gateway does not change it.",
  },
  NO_ADDRESS: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning: "MAAS has no free IP address in the subnet.",
  },
  ADDRESS_TAKEN: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The IP address is already in use.",
  },
  MACHINE_FAILED: {
    code: "INTERNAL",
    retryable: true,
    meaning:
      "A machine could not be installed, or did not join its cluster in time; it is released and replaced by another.",
  },
  MACHINE_IN_USE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The machine belongs to a cluster, so it is not stray; the message names the cluster.",
  },
  STRAY_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The gateway's MAAS account has no machine with this system id.",
  },
  STRAY_NOT_ADOPTABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The machine cannot be added to a cluster; the message says why.",
  },

  // Clusters
  CLUSTER_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no cluster of this name.",
  },
  CLUSTER_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning:
      "A cluster of this name already exists; a cluster that is being deleted keeps its name until its last machine is released.",
  },
  CLUSTER_STOPPING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The cluster is being deleted and cannot be changed.",
  },
  CLUSTER_CHANGED: {
    code: "ABORTED",
    retryable: true,
    meaning: "The cluster was repeatedly changed by other calls meanwhile; nothing was done.",
  },
  CLUSTER_OF_OTHER_MAAS: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The cluster's machines belong to another MAAS than the configured one; it cannot be changed here.",
  },
  CLUSTER_ENDPOINT_MISSING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "This requires an address that stays the same when the cluster's machines change, and none is available: set `clusters.endpoint`.",
  },
  NO_ENDPOINT: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    meaning: "Every address of `clusters.endpoint.addresses` is already used by a cluster.",
  },
  NO_IMAGE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "MAAS has no image with this version of Kubernetes for machines of this type; docs/reference/maas-images.md describes how images are named.",
  },
  POOL_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The cluster has no node pool of this name; the message names all that are missing.",
  },
  POOL_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "The cluster already has a node pool of this name.",
  },
  POOL_STOPPING: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning: "A node pool of this name was just deleted, and its machines are still being removed.",
  },
  SCALE_TO_ZERO: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning:
      "A node pool of 0 machines was requested, which may be a forgotten count; use DeleteNodePool to remove a pool.",
  },
  UPGRADE_IN_PROGRESS: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning: "The cluster is being upgraded, and can be changed once every machine has the new version.",
  },
  UPGRADE_REFUSED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "Kubernetes cannot be downgraded, and an upgrade cannot skip a minor version; the message has both versions.",
  },

  // Workload clusters
  WORKLOAD_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "A workload cluster is unreachable or temporarily unavailable; the request may still have been carried out.",
  },
  WORKLOAD_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "A workload cluster rejects the gateway's certificate or forbids the request.",
  },
  WORKLOAD_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning: "A workload cluster refused for another reason, or sent a reply that the gateway cannot parse.",
  },

  // Pods
  PODMAN_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "Podman cannot be reached, or does not answer in time; the gateway keeps trying.",
  },
  PODMAN_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The gateway may not open Podman's socket; the message says what to change.",
  },
  PODMAN_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning:
      "Podman refused for another reason, or sent a reply that the gateway cannot parse; the message has its error.",
  },
  POD_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no pod with this id.",
  },
  POD_STATE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The pod's state does not allow this, e.g. removing a running pod or killing a stopped one.",
  },
  POD_START_FAILED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "One or more containers of the pod do not start; the message has the runtime's error.",
  },
  CONTAINER_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no container with this id.",
  },
  LOGS_UNAVAILABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The container's output is not recorded, e.g. with the log driver `none`.",
  },
  IMAGE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no image with this id.",
  },
  IMAGE_IN_USE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "Containers use the image, so it cannot be removed.",
  },
  IMAGE_PULL_FAILED: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The image could not be pulled; the message has the runtime's error.",
  },

  // Tools of the host
  TOOL_MISSING: {
    code: "UNAVAILABLE",
    retryable: false,
    meaning:
      "A program that the domain needs is not installed or cannot be started; `hostplane doctor` shows how to install it.",
  },
  TOOL_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning: "A host tool failed for another reason; the message has the tool's own error.",
  },
  TOOL_TIMEOUT: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "A read-only tool did not finish in time and was stopped.",
  },
  TOOL_OUTPUT: {
    code: "INTERNAL",
    retryable: false,
    meaning: "The output of a tool could not be parsed.",
  },
  SERVICE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The health service has no service of this name.",
  },
  INTERNAL: {
    code: "INTERNAL",
    retryable: false,
    meaning: "A bug in the gateway; the log has the details under the response's request id.",
  },
} as const satisfies Record<string, Reason>;

export type ReasonName = keyof typeof reasons;
