import { type Command, Option } from 'commander'
import { type Run, writes } from '../cli/command.ts'
import { dataFlags } from '../cli/data-flags.ts'
import type { Runtime } from '../cli/runtime.ts'
import { choice, names, nonEmpty, requiredText, streamName } from '../cli/values.ts'
import { ON_FAILURE } from '../stream/operations/operation.ts'
import { failureFlags } from './event/failure-flags.ts'
import { attributeFlags, FORK_HELP, gateFlags, stepsFlag } from './event/flags.ts'
import type { InitOptions } from './init/run.ts'

const NOTES = `
--on-failure: continue, the rest goes on, and what waits for the failed event is canceled; stop, everything open is canceled
and the stream is aborted; block, what waits for the failed event goes on waiting until it is retried or skipped (event skip);
compensate, everything open is canceled and what was done is undone in reverse order, by the steps that --undo names.
--if-absent --update changes nothing below the root of a stream that exists, and only attributes that are given, in flags or the
template: --root (its name), --topic, --key, --tag, --ref, --tracking-id, --timeout, --on-due. It is a transaction of its own, with
the command id ID:update: given again, the same --command-id creates or changes nothing more.
--retries, --backoff, --attempt-timeout and --undo are for the new events below the root; without any, for the root.
`

export function register(parent: Command, runtime: Runtime, go: Run<InitOptions> = run): void {
  const command = stepsFlag(parent.command('init'))
    .argument('<STREAM>', 'name of the stream, as orders/4711', streamName)
    .addOption(new Option('--root <name>', 'name of the root event (default: Start)').argParser(requiredText('--root')))
    .addOption(new Option('--fork <names>', FORK_HELP).argParser(names('--fork')))
    .addOption(
      new Option('--join <name>', 'name of a step that starts once all threads have ended').argParser(
        requiredText('--join'),
      ),
    )
    .addOption(
      new Option('--on-failure <what>', `when an event is aborted for good: ${ON_FAILURE.join(', ')}`).argParser(
        choice('--on-failure', ON_FAILURE),
      ),
    )
    .option('--hold', 'create the stream on hold; nothing runs or expires until resume, or until the root is started')
    .addOption(
      new Option('--from <file>', 'template in YAML or XML, - for standard input; flags override it').argParser(
        nonEmpty('--from'),
      ),
    )
    .option('--if-absent', 'no error if the stream exists')
    .option('--update', 'with --if-absent: if the stream exists, set the given attributes of its root')
    .option('--create-container', 'create the container if it is missing (automatic on azurite)')
  const description = {
    summary: 'create a stream with its root and its first events; attributes go to the root',
    examples: [
      ['init orders/4711', 'with a root named Start'],
      ['init orders/4711 --fork Search,Search,Pay --join OrderDone --timeout 10m', 'three threads and a join'],
      ["init orders/4711 --fork 'Search:key=a,Search:key=b'", 'threads with attributes of their own'],
      ['init orders/4711 --steps Pick,Pack,Ship', 'a plan: each step begins after the one before'],
      ['init orders/4711 --from order.yaml --if-absent', 'from a template'],
      ['init orders/4711 --key 4711 --tag urgent --if-absent --update', 'create it, or change these attributes'],
      ['init orders/4711 --data @order.json', 'the input of the root'],
      ['init orders/4711 --steps Pick,Pack --on-failure block', 'after a failure it waits for retry or event skip'],
    ],
  } as const
  command.addHelpText('after', NOTES)
  writes(dataFlags(failureFlags(gateFlags(attributeFlags(command))), 'the root'), runtime, description, ['stream'], go)
}

const run: Run<InitOptions> = async (...given) => (await import('./init/run.ts')).initStream(...given)
