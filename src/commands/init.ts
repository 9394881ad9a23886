import { type Command, Option } from 'commander'
import { type Run, writes } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { names, nonEmpty, requiredText, streamName } from '../cli/values.ts'
import { attributeFlags } from './event/flags.ts'
import type { InitOptions } from './init/run.ts'

export function register(parent: Command, runtime: Runtime, go: Run<InitOptions> = run): void {
  const command = parent
    .command('init')
    .argument('<STREAM>', 'name of the stream, as orders/4711', streamName)
    .addOption(new Option('--root <name>', 'name of the root event (default: Start)').argParser(requiredText('--root')))
    .addOption(new Option('--fork <names>', 'first threads: A,B,C').argParser(names('--fork')))
    .addOption(
      new Option('--join <name>', 'a step that starts when all threads have ended').argParser(requiredText('--join')),
    )
    .option('--hold', 'create the stream on hold; nothing runs or expires until resume, or until the root is started')
    .addOption(
      new Option('--from <file>', 'template in YAML or XML, - for standard input; flags override it').argParser(
        nonEmpty('--from'),
      ),
    )
    .option('--if-absent', 'no error if the stream exists')
    .option('--create-container', 'create the container if it is missing (automatic on azurite)')
  const description = {
    summary: 'create a stream with its root and an optional first fork; attributes go to the root',
    examples: [
      ['init orders/4711', 'with a root named Start'],
      ['init orders/4711 --fork Search,Search,Pay --join OrderDone --timeout 10m', 'three threads and a join'],
      ['init orders/4711 --from order.yaml --if-absent', 'from a template'],
    ],
  } as const
  writes(attributeFlags(command), runtime, description, ['stream'], go)
}

const run: Run<InitOptions> = async (...given) => (await import('./init/run.ts')).initStream(...given)
