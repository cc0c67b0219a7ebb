# A team's server: docs/team.md. The model is inside; nothing is fetched at run time.
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE CHANGELOG.md ./
COPY core core
COPY plugins plugins
RUN python -m venv /opt/ragloom \
    && /opt/ragloom/bin/pip install --no-cache-dir ".[serve,html,pdf,code]"

FROM python:3.13-slim
COPY --from=build /opt/ragloom /opt/ragloom
RUN useradd --system --uid 10001 --user-group --create-home ragloom
ENV PATH="/opt/ragloom/bin:$PATH" \
    HF_HUB_OFFLINE=1 \
    PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /data
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/health', timeout=4)"]
ENTRYPOINT ["ragloom"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8765", "--token-file", "/run/secrets/ragloom-token"]
