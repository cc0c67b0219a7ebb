// The TypeScript SDK's client: node client.mjs '{"command": …, "args": …}' or '{"url": …, "token": …}'.
// Prints what each method answered, as one object.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const server = JSON.parse(process.argv[2]);
const headers = server.token ? { Authorization: `Bearer ${server.token}` } : {};
const transport = server.url
  ? new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } })
  : new StdioClientTransport({ command: server.command, args: server.args, env: process.env });
const client = new Client({ name: "test", version: "1" });
try {
  await client.connect(transport);
  const { tools } = await client.listTools(); // from here on the client validates what each tool gives
  const { resources } = await client.listResources();
  const answers = { tools, resources, calls: [] };
  answers.templates = (await client.listResourceTemplates()).resourceTemplates;
  answers.read = await client.readResource({ uri: resources[0].uri });
  for (const call of server.calls) answers.calls.push(await client.callTool(call));
  if (client.getServerCapabilities().prompts) {
    answers.prompts = (await client.listPrompts()).prompts;
    answers.filled = await client.getPrompt(server.prompt);
  }
  await client.ping();
  console.log(JSON.stringify(answers));
} catch (error) {
  console.log(JSON.stringify({ error: String(error) }));
} finally {
  await client.close();
}
