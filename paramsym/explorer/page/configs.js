/* A config.json that is dropped on the page: read by the rules that the library was asked for, or refused with what is in the way. */
"use strict";

class Refused extends Error {
  constructor(message, part = null) { super(message); this.part = part; }  // a configuration inside this one, which the page may read
}

/* The letters that a refusal asks the reader to take to the library. */
const INSTEAD = 'ps.from_config("config.json") reads it.';

const shown = (value) => { const text = JSON.stringify(value, (_, one) => (typeof one === "bigint" ? String(one) : one)) ?? "nothing"; return text.length > 60 ? `${text.slice(0, 57)}...` : text; };

/* Keys that occur twice in one object: readers disagree about which of them counts. */
const twice = (text) => {
  const open = [];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token.endsWith(":")) {
      const key = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1));
      if (open.at(-1)?.has(key)) return key;
      open.at(-1)?.add(key);
    }
  }
  return null;
};

/* Whole numbers as BigInts, others as numbers: 768.0 is no size, and no digit is lost. */
const parsed = (text, name) => {
  let config;
  try {
    config = JSON.parse(text, (_, value, context) => {
      if (typeof value !== "number") return value;
      const source = context?.source ?? (Number.isSafeInteger(value) ? String(value) : null);
      return source !== null && /^-?\d+$/.test(source) ? BigInt(source) : value;
    });
  } catch (error) { throw new Refused(`${name} is not JSON: ${error.message}.`); }
  if (config === null || typeof config !== "object" || Array.isArray(config)) throw new Refused(`${name} holds ${shown(config)}; wanted one JSON object.`);
  const key = twice(text);
  if (key !== null) throw new Refused(`${name}: the key '${key}' occurs twice.`);
  return config;
};

const same = (one, other) => {
  if (typeof one === "bigint" || typeof other === "bigint") return typeof one === "bigint" && Number.isSafeInteger(other) && one === BigInt(other);
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") return one === other;
  const keys = Object.keys(one);
  return Array.isArray(one) === Array.isArray(other) && keys.length === Object.keys(other).length && keys.every((key) => key in other && same(one[key], other[key]));
};

const LARGEST = 2n ** 63n - 1n;

const whole = (value, where, least) => {
  if (typeof value !== "bigint" || value < BigInt(least) || value > LARGEST) {
    throw new Refused(`${where} is ${shown(value)}; wanted ${least ? "a positive whole number" : "a whole number, zero or more"}.`);
  }
  return value;
};

/* Settings of a rotation: of a kind that was tried, with no other keys, and numbers for its numbers. */
const alike = (value, known) => value !== null && typeof value === "object" && known !== null && typeof known === "object" && !Array.isArray(known)
  && (value.rope_type ?? value.type) === (known.rope_type ?? known.type)
  && Object.entries(value).every(([key, one]) => (["rope_type", "type"].includes(key) ? one === (known.rope_type ?? known.type)
    : (key in known || key === "rope_theta") && (typeof one === "bigint" || typeof one === "number") && one > 0));

/* The configuration with the keys of those inside it: text_config.hidden_size. */
const flat = (config, { inside }) => {
  const found = { ...config };
  for (const [name, overruling] of Object.entries(inside)) {
    const where = found[overruling] === undefined || found[overruling] === null ? name : overruling, inner = found[where] ?? {};
    if (typeof inner !== "object" || Array.isArray(inner)) throw new Refused(`${where} is ${shown(inner)}; wanted an object of keys.`);
    for (const [key, value] of Object.entries(inner)) found[`${name}.${key}`] = value;
    delete found[name];
    delete found[overruling];
  }
  return found;
};

/* Whether a list of kinds of attention repeats one pattern and has one entry for each layer. */
const repeats = (value, kinds, layers) => {
  const [listed, times] = Array.isArray(value) && value.length === 1 && Array.isArray(value[0]) && value[0].length === 2 ? value[0] : [[], 0n];
  return Array.isArray(listed) && listed.length > 0 && listed.length % kinds.length === 0 && listed.every((one, place) => one === kinds[place % kinds.length])
    && typeof times === "bigint" && times > 0n && BigInt(listed.length) * times === layers;
};

/* The sizes that a configuration gives one variant; throws if the variant's rules do not know a key or a value. */
const sizesOf = (config, rules, architecture, reader) => {
  const given = { ...config };
  for (const [alias, name] of Object.entries(reader.aliases)) {
    if (alias in config) {
      if (name in config && !same(config[alias], config[name])) throw new Refused(`${alias} and ${name} say different things. ${INSTEAD}`);
      given[name] = config[alias];
    }
  }
  if (architecture === undefined ? !rules.first : !rules.architectures.includes(architecture)) throw new Refused("");
  const sizes = {};
  const put = (letter, value, where) => {
    if (typeof sizes[letter] === "bigint" && sizes[letter] !== value) throw new Refused(`${where} is ${value}; this page has the formula for ${sizes[letter]}, as another key says. ${INSTEAD}`);
    sizes[letter] = value;
  };
  for (const [name, [letter, least, missing, nothing, only]] of Object.entries(rules.sizes)) {
    const rule = !(name in given) ? missing : given[name] === null ? nothing : undefined;
    if (rule === null) throw new Refused(`${name} is ${name in given ? "null" : "not given"}, and this page has no formula for that. ${INSTEAD}`);
    const value = rule === undefined ? whole(given[name], name, least) : typeof rule === "number" ? BigInt(rule) : rule;
    if (only !== null && value !== BigInt(only)) throw new Refused(`${name} is ${value}; this page reads only ${only} there. ${INSTEAD}`);
    put(letter, value, name);
  }
  for (const [letter, value] of Object.entries(sizes)) if (typeof value === "string") sizes[letter] = sizes[value];
  for (const [name, [letters, least, missing]] of Object.entries(rules.lists)) {
    const value = name in given ? given[name] : missing?.map(BigInt);
    if (!Array.isArray(value) || value.length !== letters.length) throw new Refused(`${name} is ${shown(value)}; this page has the formula for ${letters.length} of them. ${INSTEAD}`);
    letters.forEach((letter, place) => put(letter, whole(value[place], `${name}[${place}]`, least), `${name}[${place}]`));
  }
  for (const [letter, [name, width, heads, known]] of Object.entries(rules.shares)) {
    const found = known.find(([value]) => (value === null ? !(name in given) : name in given && same(given[name], value)));
    const size = found && sizes[width] * BigInt(found[1]), by = found && sizes[heads] * BigInt(found[2]);
    if (!found || by <= 0n || size % by !== 0n) throw new Refused(`${name} is ${shown(given[name])}, and this page has no formula for that fraction of a head. ${INSTEAD}`);
    sizes[letter] = size / by;
  }
  for (const [name, [kinds, letter]] of Object.entries(rules.patterns)) {
    if (!repeats(given[name] ?? [[["global", "local"], 12n]], kinds, sizes[letter])) {
      throw new Refused(`${name} is ${shown(given[name] ?? null)}; this page has the formula for [[${shown(kinds)}, n]] with one entry for each of the ${sizes[letter]} layers. ${INSTEAD}`);
    }
  }
  for (const [name, values] of Object.entries(rules.fixed)) {
    const source = rules.equal[name];
    if (source !== undefined && name in given && given[name] === sizes[rules.sizes[source][0]]) continue;
    if (source !== undefined && !values.length) throw new Refused(`${name} is ${shown(given[name])}; this page has the formula for the same size as ${source}. ${INSTEAD}`);
    const fits = values.some((one) => (one.length ? name in given && (same(given[name], one[0]) || alike(given[name], one[0])) : !(name in given)));
    if (!fits) {
      const known = values.filter((one) => one.length).map(([one]) => shown(one)).join(" or ");
      throw new Refused(`${name} is ${name in given ? shown(given[name]) : "not given"}; this page has the formula for ${known || "its absence"}. ${INSTEAD}`, familyOf(given[name]?.model_type) ? given[name] : null);
    }
  }
  for (const name of rules.free) {
    const value = given[name];
    if (name in given && rules.whole.includes(name)) whole(value, name, 1);
    if (name in given && !((typeof value === "number" || typeof value === "bigint") && value > 0)) throw new Refused(`${name} is ${shown(value)}; this page takes positive numbers there. ${INSTEAD}`);
  }
  if (rules.labels !== undefined) {
    const { num_labels: number, id2label: names } = config;
    if (number !== undefined && number !== null) sizes.N = whole(number, "num_labels", 0);
    else if (names === undefined || names === null) sizes.N = BigInt(rules.labels);
    else if (typeof names !== "object" || Array.isArray(names) || !Object.keys(names).every((one) => /^(0|[1-9]\d*)$/.test(one))) throw new Refused(`id2label is ${shown(names)}; wanted an object from numbers to labels.`);
    else sizes.N = BigInt(Object.keys(names).length);
  }
  return sizes;
};

/* Keys without a rule, which could change the tensors. */
const unknown = (config, rules, reader) => Object.entries(config).filter(([key, value]) => {
  if (key in rules.sizes || key in rules.lists || key in rules.fixed || rules.free.includes(key) || key in rules.patterns || key in reader.aliases) return false;
  if (Object.values(rules.shares).some(([fraction]) => fraction === key)) return false;
  const plain = key.split(".").at(-1);
  for (const [{ usual, ignored }, one] of [[reader, key], [explorer.keys, plain]]) {  // the family's rule for a key takes precedence over the common rule
    if (one in usual) return !usual[one].some((known) => same(value, known));
    if (ignored.includes(one)) return false;
  }
  return true;
}).map(([key]) => key);

const familyOf = (type) => Object.entries(explorer.index).find(([, variants]) => variants.some((one) => one.types.includes(type)));

/* The known words that share the most pairs of letters with a word. */
const nearest = (word, known) => {
  const pairs = (one) => new Set([...one.toLowerCase()].map((letter, place, all) => (all[place - 1] ?? "") + letter));
  const own = pairs(word), shared = (one) => { const other = pairs(one); return [...other].filter((pair) => own.has(pair)).length / (own.size + other.size); };
  return known.map((one) => [shared(one), one]).sort(([a], [b]) => b - a).slice(0, 3).map(([, one]) => one);
};

/* The refusal of a model type that is not on the page. */
const notHere = (type, config) => {
  const part = [config.text_config, config.vision_config].find((one) => typeof one?.model_type === "string" && familyOf(one.model_type)) ?? null;
  if (explorer.types.includes(type)) return new Refused(`model_type '${type}' is not on this page; ${INSTEAD}`, part);
  const here = explorer.types.filter(familyOf);
  return new Refused(`model_type '${type}' is not known. The nearest on this page are ${nearest(type, here).join(", ")}.`, part);
};

/* Return the family, the variant and the sizes that a configuration means, and the keys that were passed over. */
explorer.readConfig = async (text, name = "config.json") => explorer.understood(parsed(text, name));

explorer.understood = async (config, alone = false) => {
  const type = config.model_type;
  if (typeof type !== "string") throw new Refused(`model_type is missing or not a string. ${INSTEAD}`);
  const found = familyOf(type);
  if (!found) throw notHere(type, config);
  const [family] = found, { variants, types } = await explorer.load(family);
  const named = config.architectures;
  if (named !== undefined && named !== null && !Array.isArray(named)) throw new Refused(`architectures is ${shown(named)}; wanted a list of class names.`);
  const own = variants.map((one, number) => ({ one, number, rules: one.configs[type] })).filter(({ rules }) => rules);
  const other = alone && !own.some(({ rules }) => rules.first) ? own[0].rules.architectures[0] : undefined;  // a part names no class
  const architecture = named?.[0] ?? other;
  const asked = own.filter(({ rules }) => (architecture === undefined ? rules.first : rules.architectures.includes(architecture)));
  if (!asked.length) throw new Refused(`architecture '${architecture ?? "(the base class)"}' of ${type} is not on this page, which has ${[...new Set(own.map(({ one }) => one.title))].join(", ")}. ${INSTEAD}`);
  const refusals = [], given = flat(config, types[type]);
  for (const { one, number, rules } of asked) {
    try {
      const sizes = sizesOf(given, rules, architecture, types[type]), used = (letter) => one.degrees.some((program) => letter in program);
      const open = one.letters.map(([letter]) => letter).filter((letter) => !(letter in sizes) && used(letter));
      if (open.length) throw new Refused(`this page does not know which keys of ${type} give ${open.join(", ")}. ${INSTEAD}`);
      const model = await explorer.model(family, number, undefined, sizes);
      const { error } = explorer.run(one, 0, explorer.all(model, {}));  // only the parameters are checked: a cost that is refused says so in its own tab
      if (error) throw new Refused(`this configuration cannot be built. ${error}`);
      return { family, number, sizes, unknown: unknown(given, rules, types[type]), type };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refusals.push(error);
    }
  }
  throw refusals.at(0);
};

const take = async (file) => {
  if (file.size > 16 * 2 ** 20) { refuse(new Refused(`${file.name} has more than 16 MiB, which is no configuration.`), file.name); return; }
  const text = await file.text();
  await show(() => explorer.readConfig(text, file.name), file.name);
};

/* Show the model of a configuration, or the reason why the page cannot read it. */
const show = async (reading, name) => {
  const said = explorer.find("config-said");
  try {
    const read = await reading();
    const use = async () => {
      await explorer.choose(read.family, read.number, explorer.index[read.family][read.number].names[0], read.sizes);
      explorer.state.models[explorer.state.active].name = name;
      explorer.rebuild();
      said.textContent = `${name} is read: ${explorer.index[read.family][read.number].title}.`;
      said.classList.remove("bad");
    };
    if (!read.unknown.length) { await use(); return; }
    said.classList.add("bad");
    said.replaceChildren(`${read.type} does not know these config keys: ${read.unknown.slice(0, 12).join(", ")}. They could change the tensors. `,
      explorer.element("button", { type: "button", onclick: use }, "Read it without them"));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    refuse(error, name);
  }
};

const refuse = ({ message, part }, name) => {
  const said = explorer.find("config-said");
  said.classList.add("bad");
  said.replaceChildren(message, ...(part ? [" ", explorer.element("button", { type: "button", onclick: () => show(() => explorer.understood(part, true), name) }, `Read its ${part.model_type} alone`)] : []));
};

explorer.listenToConfigs = () => {
  if (!explorer.many) return;
  const drop = explorer.find("drop"), file = explorer.find("file");
  explorer.find("open").addEventListener("click", () => file.click());
  file.addEventListener("change", () => { if (file.files[0]) take(file.files[0]); file.value = ""; });
  for (const kind of ["dragover", "drop", "dragleave"]) {
    document.addEventListener(kind, (event) => {  // anywhere on the page: otherwise the browser would leave the page and open the file
      event.preventDefault();
      drop.classList.toggle("over", kind === "dragover");
      if (kind === "drop" && event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
    });
  }
};
