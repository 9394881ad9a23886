import { type Command, Option } from 'commander'
import { act, describe, type Run } from '../../cli/command.ts'
import { listenAddress, listenName } from '../../cli/listen-address.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { added, nonEmpty } from '../../cli/values.ts'
import { alsoFlags } from './also.ts'
import { recordFlags } from './record-flags.ts'
import type { ServeInboxOptions } from './serve/options.ts'
import { inboxName } from './values.ts'

const NOTES = `
POST /inboxes/NAME takes a record, or an array of records, as application/json, or a record a line as application/x-ndjson: up to
4 MiB and 10000 records. It answers 202 with the ids once all are durable. If one of them is not a record, none is put: 400 names the
bad ones by index. 429 and 503 have Retry-After: send the same again, under the same ids. The header Idempotency-Key can give the id of
a single record.

With tokens every request needs one: Authorization: Bearer TOKEN. They are in the file of --token-file, one a line, or in
LEASECTL_INBOX_TOKEN. Without them only this machine is served. /livez, /readyz and /metrics need none.

With --also each record goes to the inbox of the same name in a second store too. Durable in one is accepted, and the answer says how
many are in both, or in one only.

The log goes to stderr: text on a terminal, otherwise JSON lines. SIGTERM and SIGINT stop taking requests, answer those that were taken, and
end with 0.
`

/** `inbox serve NAME…`: takes records over HTTP. */
export function registerServe(parent: Command, runtime: Runtime, go: Run<ServeInboxOptions> = run): void {
  const command = recordFlags(
    parent
      .command('serve')
      .argument('<NAME...>', 'names of the inboxes', added(inboxName))
      .addOption(
        new Option('--listen <address>', 'address to listen on (default: 127.0.0.1:8080)').argParser(
          listenAddress('--listen'),
        ),
      )
      .addOption(
        new Option(
          '--listen-name <name>',
          'also accept requests for this host name, where no token is needed (repeatable)',
        ).argParser(added(listenName('--listen-name'))),
      )
      .addOption(
        new Option('--token-file <file>', 'bearer tokens of the clients, one a line').argParser(
          nonEmpty('--token-file'),
        ),
      ),
  )
  alsoFlags(command)
  command.addHelpText('after', NOTES)
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: appends records; takes no lease.',
    summary: 'take records over HTTP: POST /inboxes/NAME',
    examples: [
      ['inbox serve orders', 'for this machine, on 127.0.0.1:8080'],
      ['inbox serve orders returns --listen 0.0.0.0:8080 --token-file /run/secrets/inbox', 'for all, with tokens'],
      ['inbox serve orders --also azure:b/inbox', 'into two regions, of which one may be away'],
      ['inbox serve orders --id-field /orderId --key-field /customer', 'with other fields'],
    ],
    formats: ['text', 'ndjson'],
  })
  act(command, runtime, 'writes', ['names'], go)
}

const run: Run<ServeInboxOptions> = async (...given) => (await import('./serve/run.ts')).serveInboxes(...given)
