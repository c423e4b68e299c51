# Tandem in a container: docker build -t tandem . (docs/serving.md). Builds the Debian package and
# installs it into a second, small stage.
ARG BASE=debian:12
FROM ${BASE} AS build
WORKDIR /src
COPY . .
RUN ./dev package

FROM ${BASE}
COPY --from=build /src/build/package/tandem.deb /tmp/tandem.deb
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends curl /tmp/tandem.deb \
    && rm -rf /tmp/tandem.deb /var/lib/apt/lists/*
RUN useradd --uid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin tandem \
    && mkdir /data
# Nothing is kept in the container.
ENV TANDEM_CACHE=
USER 10001
WORKDIR /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD curl -fsS http://127.0.0.1:8080/health
STOPSIGNAL SIGTERM
ENTRYPOINT ["tandem"]
CMD ["serve", "/data", "--host", "0.0.0.0", "--port", "8080"]
