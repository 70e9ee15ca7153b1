# The gateway in a container. It listens on loopback unless it is told otherwise, which inside a container is the
# container's own unless that shares the host's network; docker-compose.yml shows both ways, docs/deploy.md the rest.
#
#   docker build -t hostplane .
#   docker run --rm --network host hostplane serve --sandbox
FROM node:26-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
# No script of a dependency is needed; the package's own would build a dashboard whose source is not here yet.
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json rolldown.config.ts ./
COPY adapters adapters
COPY client client
COPY dashboard dashboard
COPY gen gen
COPY server server
# What is left out besides: a Node for hosts that have an older one, and what only compilers and debuggers read.
RUN npm run build \
    && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
    && rm -rf node_modules/node-* node_modules/@types \
    && find node_modules dist -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

FROM node:26-bookworm-slim
# Tools of Debian that a domain starts, by docs/deploy.md: --build-arg PACKAGES="librados2 restic xorriso".
ARG PACKAGES=""
RUN if [ -n "$PACKAGES" ]; then \
      apt-get update && apt-get install -y --no-install-recommends $PACKAGES && rm -rf /var/lib/apt/lists/*; \
    fi
# Young objects get 8 MB, not 32: a gateway at rest is that much smaller, and answers no slower.
ENV NODE_ENV=production \
    NODE_OPTIONS=--max-semi-space-size=4 \
    HOSTPLANE_DATA=/var/lib/hostplane
WORKDIR /opt/hostplane
COPY --from=build /src/package.json ./
COPY --from=build /src/node_modules node_modules
COPY --from=build /src/dist dist
# What /docs and /openapi.json are made of.
COPY --from=build /src/gen/contract.binpb gen/contract.binpb
COPY --from=build /src/gen/lvmd/current/contract.binpb gen/lvmd/current/contract.binpb
COPY bin bin
RUN ln -s /opt/hostplane/bin/hostplane.js /usr/local/bin/hostplane \
    && install -d -o node -g node -m 0700 /var/lib/hostplane
VOLUME /var/lib/hostplane
# The user `node`, by a number that Kubernetes can see not to be root's.
USER 1000:1000
# What Node compiles of it is kept in the image, so that each start is spared half of that.
RUN timeout --preserve-status 15 hostplane serve --sandbox --data /tmp/first && rm -rf /tmp/first
# It asks by the socket in HOSTPLANE_DATA, so that it holds for any listener.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "/opt/hostplane/bin/healthcheck.js"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["hostplane"]
# Without --sandbox and without a configured system this refuses to start and says what to do.
CMD ["serve"]
