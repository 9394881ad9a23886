import { type Command, Option } from 'commander'
import { act, describe, describeGroup, parsed, type Run, reads } from '../cli/command.ts'
import { type GlobalOptions, optionsOf } from '../cli/options.ts'
import { UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { choice, contextName, nonEmpty } from '../cli/values.ts'
import { nearest } from '../util/strings.ts'
import type {
  AddContextOptions,
  ContextOptions,
  RemoveContextOptions,
  SetContextOptions,
  UseContextOptions,
} from './context/run.ts'
import type { DoctorOptions } from './doctor/run.ts'

/** `context …`: named stores. Without a subcommand it shows the current context. */
export function register(parent: Command, runtime: Runtime, go: Run<ContextOptions> = run): void {
  const group = parent.command('context').usage('[COMMAND | -]')
  group.argument('[-]', 'switch back to the previous context', text => onlyBack(text, group))
  describeGroup(group, runtime, {
    summary: 'manage named stores: add, set, list, use, remove, test',
    description:
      'Manage named stores. Without a subcommand, shows the current context. Changes your list of contexts, never a stream.',
    examples: [
      ['context add prod --store azure:orders4711/events --protected', 'name a store'],
      ['context use prod', 'use this store from now on'],
      ['context -', 'switch back to the previous context'],
      ['ls -c prod', 'use it for one command'],
    ],
  })
  act(group, runtime, 'reads', parse, go)
  for (const registerIn of [registerAdd, registerSet, registerList, registerUse, registerRemove, registerTest])
    registerIn(group, runtime)
}

function parse(command: Command): ContextOptions {
  const options: GlobalOptions = optionsOf(command)
  if (options.output !== undefined) choice('-o', ['text', 'json'])(options.output)
  return { ...options, back: command.args.length > 0 }
}

/** commander passes an unknown subcommand as the argument of the group. */
function onlyBack(text: string, group: Command): string {
  if (text === '-') return text
  const words = group.commands.flatMap(command => [command.name(), ...command.aliases()])
  const near = nearest(text, words)
  throw new UsageError(`unknown command '${text}'`, {
    hint: near === undefined ? `One of ${words.join(', ')}.` : `Did you mean ${near}?`,
  })
}

const run: Run<ContextOptions> = async (options, runtime) => {
  if (options.back) {
    runtime.begin('writes')
    const { useContext } = await import('./context/run.ts')
    return useContext({ ...options, name: '-' }, runtime)
  }
  const { showContext } = await import('./context/run.ts')
  return showContext(options, runtime)
}

export function registerAdd(parent: Command, runtime: Runtime, go: Run<AddContextOptions> = runAdd): void {
  const command = parent
    .command('add')
    .argument('<NAME>', 'name of the context', contextName('NAME'))
    .option(
      '--protected',
      'cancel, abort, retry, ack, rm and commands that overwrite streams ask first, however the store is named',
    )
    .option('--read-only', 'refuse every change while this context is used')
    .addOption(
      new Option(
        '--credential-file <file>',
        'key, SAS or sign-in for this store, in a file that only you can read',
      ).argParser(nonEmpty('--credential-file')),
    )
    .option('--use', 'make it the current context')
    .option('--replace', 'replace the context of this name')
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: your list of contexts, no stream.',
    summary: 'name the store of --store',
    examples: [
      ['context add dev --store azurite:orders --use', 'and make it the current context'],
      ['context add prod --store azure:orders4711/events --protected', 'cancel and other changes ask first'],
      ['context add look --store azure:orders4711/events --read-only', 'for looking only'],
      ['context add prod --store azure:orders4711/events --credential-file ~/.leasectl-prod', 'with its own key'],
    ],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', ['name'], go)
}

const runAdd: Run<AddContextOptions> = async (...given) => (await import('./context/run.ts')).addContext(...given)

export function registerSet(parent: Command, runtime: Runtime, go: Run<SetContextOptions> = runSet): void {
  const command = parent
    .command('set')
    .argument('<CONTEXT>', 'name of the context', contextName('CONTEXT'))
    .option('--protected', 'changes ask first, however the store is named')
    .option('--no-protected', 'they no longer do')
    .option('--read-only', 'refuse every change while this context is used')
    .option('--no-read-only', 'allow changes again')
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: your list of contexts, no stream.',
    summary: 'change how a context guards its store',
    examples: [
      ['context set prod --read-only', 'refuse every change'],
      ['context set prod --no-read-only --protected', 'allow changes; each one asks'],
    ],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', ['name'], go)
}

const runSet: Run<SetContextOptions> = async (...given) => (await import('./context/run.ts')).setContext(...given)

function registerList(parent: Command, runtime: Runtime, go: Run<GlobalOptions> = runList): void {
  const command = parent.command('list').alias('ls')
  const description = {
    summary: 'list the contexts; * marks the current one',
    examples: [
      ['context list', 'names, addresses, protection'],
      ['context list -o json', 'for scripts'],
    ],
    formats: ['table', 'name', 'json', 'csv'],
    effect: 'Only reads: your list of contexts, no store.',
  } as const
  reads(command, runtime, description, [], go)
}

const runList: Run<GlobalOptions> = async (...given) => (await import('./context/run.ts')).listContexts(...given)

function registerRemove(parent: Command, runtime: Runtime, go: Run<RemoveContextOptions> = runRemove): void {
  const command = parent
    .command('remove')
    .alias('rm')
    .argument('<CONTEXT>', 'name of the context', contextName('CONTEXT'))
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: your list of contexts. The store and its streams stay as they are.',
    summary: 'remove a context from your list',
    examples: [['context remove dev', 'removes the name, not the store']],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', ['name'], go)
}

const runRemove: Run<RemoveContextOptions> = async (...given) =>
  (await import('./context/run.ts')).removeContext(...given)

export function registerTest(parent: Command, runtime: Runtime, go: Run<DoctorOptions> = runTest): void {
  const command = parent
    .command('test')
    .argument('[CONTEXT]', 'name of the context (default: the selected store)', contextName('CONTEXT'))
  describe(command, runtime, {
    kind: 'reads',
    effect: 'Writes: a small probe stream, and removes it.',
    summary: 'test a store: short for doctor -c CONTEXT',
    examples: [
      ['context test prod', 'permissions, clock, settings'],
      ['context test', 'the selected store'],
    ],
    formats: ['text', 'json', 'ndjson'],
  })
  act(command, runtime, 'reads', parseTest, go)
}

/** The options of `doctor -c CONTEXT`. */
function parseTest(command: Command): DoctorOptions {
  const { name, ...options } = parsed<GlobalOptions & { readonly name?: string }>(command, ['name'])
  if (name === undefined) return { ...options, names: [] }
  const { store, container, context } = options
  if ((store ?? container ?? context) === undefined) return { ...options, context: name, names: [] }
  throw new UsageError('the argument and a flag both name a store', { hint: 'Use one of them.' })
}

const runTest: Run<DoctorOptions> = async (...given) => (await import('./doctor/run.ts')).examineAll(...given)

export function registerUse(parent: Command, runtime: Runtime, go: Run<UseContextOptions> = runUse): void {
  const command = parent
    .command('use')
    .argument('[CONTEXT]', 'name of the context; - is the previous one', nameOrBack)
    .option('--none', 'no current context: use the store of the environment, or the embedded store')
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: your current context, no stream.',
    summary: 'make a context the current one: the default store of later commands',
    examples: [
      ['context use prod', 'from now on, in every terminal'],
      ['context use -', 'switch back to the previous context'],
      ['context use --none', 'no current context'],
    ],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', parseUse, go)
}

const nameOrBack = (text: string) => (text === '-' ? text : contextName('CONTEXT')(text))

function parseUse(command: Command): UseContextOptions {
  const options = parsed<UseContextOptions & { readonly none?: boolean }>(command, ['name'])
  if ((options.name === undefined) === (options.none === true)) return options
  throw new UsageError(options.none ? 'CONTEXT and --none exclude each other' : 'which context?', {
    hint: `${options.none ? 'Use one of them' : 'Name it, or use - for the previous one'}; context list shows them.`,
  })
}

const runUse: Run<UseContextOptions> = async (...given) => (await import('./context/run.ts')).useContext(...given)
