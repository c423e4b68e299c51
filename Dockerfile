# Tandem in a container: docker build -t tandem . (docs/serving.md). Builds the Debian package,
# installs it in a second stage, and takes from there what the program needs to run, and no more.
ARG BASE=debian:12
FROM ${BASE} AS build
WORKDIR /src
COPY . .
RUN ./dev package

FROM ${BASE} AS installed
COPY --from=build /src/build/package/tandem.deb /tmp/tandem.deb
COPY --from=build /src/tools/debian/server_root.sh /tmp/server_root.sh
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends /tmp/tandem.deb \
    && sh /tmp/server_root.sh /srv/server \
    && rm /tmp/tandem.deb /tmp/server_root.sh

FROM scratch AS server
COPY --from=installed /srv/server/ /
# Nothing is kept in the container.
ENV TANDEM_CACHE=
USER 10001:10001
WORKDIR /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=4s --start-period=60s CMD ["tandem", "serve", "/data", "--port", "8080", "--health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tandem"]
CMD ["serve", "/data", "--host", "0.0.0.0", "--port", "8080"]
