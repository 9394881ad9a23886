import { type Command, Option } from 'commander'
import { act, describe, type Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { selectionFlags } from '../cli/selection/flags.ts'
import { nonEmpty, streamNames } from '../cli/values.ts'
import type { ExportOptions } from './export/run.ts'
import { transferFlags } from './transfer/flags.ts'

const NOTES = `
xml is the stored document, byte for byte; in a folder the name of the stream is the path, and import reads the folder.
json is for reading: as show -o json, with the history. Documents are copied to a store unchanged, with history and
claims of workers. Leases are not copied, and nothing is removed here: use rm once the copy is complete.
chrome and otlp write one document for all streams; an open event ends now and is marked open. otlp is one line of JSON
per stream: a stream is a trace, an event is a span. OTEL_EXPORTER_OTLP_HEADERS has the credentials for the endpoint.
xml copies an unreadable document unchanged; the other formats leave it out: exit 7.
`

export function register(parent: Command, runtime: Runtime, go: Run<ExportOptions> = run): void {
  const command = parent
    .command('export')
    .argument('[STREAM...]', 'names of streams', streamNames)
    .addOption(
      new Option('--to <target>', 'a folder; with chrome and otlp a file; or the address of a store').argParser(
        nonEmpty('--to'),
      ),
    )
    .addOption(
      new Option('--endpoint <url>', 'with otlp: a collector that accepts OTLP/HTTP as JSON').argParser(
        nonEmpty('--endpoint'),
      ),
    )
    .option('--skip-missing', 'skip streams that do not exist')
  selectionFlags(command)
  transferFlags(command, 'files, or with a store streams, that are there')
  command.addHelpText('after', NOTES)
  describe(command, runtime, {
    kind: 'reads',
    effect:
      'Only reads: takes no lease; --to writes files, or streams of another store, and --endpoint sends to a collector.',
    summary: 'export streams to files, to another store, or to a trace viewer',
    examples: [
      ['export orders/4711 > 4711.xml', 'one document, as stored'],
      ['export --all --to backup/', 'a folder with one file per stream; run again to continue'],
      ['export --all --to azure:acct/container', 'copy every stream to another store'],
      ["export --match 'orders/**' -o chrome --to trace.json", 'for chrome://tracing and ui.perfetto.dev'],
      ['export --failed -o otlp --endpoint https://collector:4318', 'spans for OpenTelemetry'],
    ],
    formats: ['xml', 'json', 'mermaid', 'chrome', 'otlp'],
  })
  act(command, runtime, 'reads', ['names'], go)
}

const run: Run<ExportOptions> = async (...given) => (await import('./export/run.ts')).exportStreams(...given)
