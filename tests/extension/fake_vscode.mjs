// A stand-in for the part of VS Code's API that the extension uses. It remembers what was shown; a test says what a person answers.
export function fakeVscode(settings) {
  class EventEmitter {
    #listeners = new Set();
    event = (listener) => {
      this.#listeners.add(listener);
      return { dispose: () => this.#listeners.delete(listener) };
    };
    fire(value) {
      for (const listener of this.#listeners) listener(value);
    }
  }
  class TreeItem {
    constructor(label) {
      this.label = label;
    }
  }
  class ThemeIcon {
    constructor(id) {
      this.id = id;
    }
  }
  const person = { message: () => undefined, pick: () => undefined, input: () => undefined };
  const shown = { trees: {}, messages: [], errors: [], terminals: [], pages: [], opened: [] };
  const commands = new Map();
  const message = (kind) => async (text, ...choices) => {
    (kind === "error" ? shown.errors : shown.messages).push({ text, choices });
    return person.message(text, choices);
  };
  // VS Code calls the pseudoterminal as a tab of 80 columns would.
  const createTerminal = (options) => {
    const made = { ...options, printed: "", sizes: [], closed: false, show() {} };
    options.pty.onDidWrite((text) => (made.printed += text));
    options.pty.onDidClose(() => (made.closed = true));
    options.pty.onDidOverrideDimensions((size) => made.sizes.push(size));
    options.pty.open({ columns: 80, rows: 24 });
    shown.terminals.push(made);
    return made;
  };
  const createWebviewPanel = (_type, title) => {
    const received = new EventEmitter();
    const page = { title, sent: [], click: (action, id) => received.fire({ action, id }), onDidDispose() {}, reveal() {} };
    page.webview = { html: "", postMessage: async (parts) => page.sent.push(parts), onDidReceiveMessage: received.event };
    shown.pages.push(page);
    return page;
  };
  const tree = (name, provider) => {
    shown.trees[name] = provider;
    return { dispose() {}, badge: undefined };
  };
  const api = {
    EventEmitter, TreeItem, ThemeIcon,
    ViewColumn: { Beside: -2 },
    Uri: { parse: (text) => ({ toString: () => text }) },
    env: { openExternal: async (uri) => shown.opened.push(uri.toString()) },
    workspace: { getConfiguration: () => ({ get: (name, otherwise) => settings[name] ?? otherwise }) },
    commands: {
      registerCommand(name, does) {
        commands.set(name, does);
        return { dispose: () => commands.delete(name) };
      },
    },
    window: {
      createTreeView: (name, { treeDataProvider }) => (shown.badge = tree(name, treeDataProvider)),
      registerTreeDataProvider: tree,
      createTerminal, createWebviewPanel,
      showWarningMessage: message("message"), showInformationMessage: message("message"), showErrorMessage: message("error"),
      showQuickPick: async (items, options) => items.find((item) => item.label === person.pick(items, options)),
      showInputBox: async (options) => person.input(options),
    },
  };
  const items = (name) => shown.trees[name].getChildren().map((each) => ({ each, ...shown.trees[name].getTreeItem(each) }));
  return { api, shown, person, items, run: (name, of) => commands.get(`ttyward.${name}`)(of), commands };
}
