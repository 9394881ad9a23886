import { type Command, Option } from 'commander'
import { act, describe, type Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { selectionFlags } from '../cli/selection/flags.ts'
import { nonEmpty, streamNames } from '../cli/values.ts'
import type { ExportOptions } from './export/run.ts'
import { transferFlags } from './transfer/flags.ts'

const NOTES = `
xml is the stored document, byte by byte; in a folder the stream's name is the path, and import takes the folder back.
json is for reading: as show -o json, with the history. Into a store documents go as they are, with history and the
claims of workers; leases stay behind, and nothing is removed here: rm does that, once all has arrived.
chrome and otlp make one document of all streams; an event that is open ends now and is marked open. otlp is a line of
JSON per stream: a stream is a trace, an event a span; OTEL_EXPORTER_OTLP_HEADERS has what signs in at the endpoint.
A document that cannot be read is copied as it is by xml and left out by the others: exit 7.
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
      new Option('--endpoint <url>', 'with otlp: a collector that takes OTLP/HTTP as JSON').argParser(
        nonEmpty('--endpoint'),
      ),
    )
    .option('--skip-missing', 'go on with the others where one of several is missing')
  selectionFlags(command)
  transferFlags(command, 'files, or with a store streams, that are there')
  command.addHelpText('after', NOTES)
  describe(command, runtime, {
    kind: 'reads',
    effect:
      'Only reads: takes no lease; --to writes files, or streams of another store, and --endpoint sends to a collector.',
    summary: 'streams to files, to another store, or to a trace viewer',
    examples: [
      ['export orders/4711 > 4711.xml', 'one document, as it is stored'],
      ['export --all --to backup/', 'a folder with a file each; repeating it goes on'],
      ['export --all --to azure:acct/container', 'copies every stream into another store'],
      ["export --match 'orders/**' -o chrome --to trace.json", 'for chrome://tracing and ui.perfetto.dev'],
      ['export --failed -o otlp --endpoint https://collector:4318', 'spans for OpenTelemetry'],
    ],
    formats: ['xml', 'json', 'mermaid', 'chrome', 'otlp'],
  })
  act(command, runtime, 'reads', ['names'], go)
}

const run: Run<ExportOptions> = async (...given) => (await import('./export/run.ts')).exportStreams(...given)
