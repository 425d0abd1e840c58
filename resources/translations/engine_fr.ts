<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="fr_FR" sourcelanguage="en">
<context>
    <name>engine::Sentence</name>
    <message>
        <source>%1: expected a list of comparisons; the next compare of belfry-cli writes it anew</source>
        <translation>%1 : une liste de comparaisons est attendue ; le prochain compare de belfry-cli l’écrit à nouveau</translation>
    </message>
    <message>
        <source>%1: is a GGUF file; adapters are merged into the model&apos;s Hugging Face folder, and applied without merging to this one</source>
        <translation>%1 : est un fichier GGUF ; les adaptateurs sont fusionnés dans le dossier Hugging Face du modèle, et appliqués à celui-ci sans fusion</translation>
    </message>
    <message>
        <source>%1 (line %2)</source>
        <translation>%1 (ligne %2)</translation>
    </message>
    <message>
        <source>%1 and %2 are the same bytes but disagree: %3 is %4, %5 is %6; give both the same place, or ask for two copies with &quot;duplicate_tied&quot;: true</source>
        <translation>%1 et %2 sont les mêmes octets mais se contredisent : %3 est %4, %5 est %6 ; donnez-leur la même place, ou demandez deux copies avec &quot;duplicate_tied&quot;: true</translation>
    </message>
    <message>
        <source>%1 by --limit</source>
        <translation>%1 par --limit</translation>
    </message>
    <message>
        <source>%1 by the limits of the map</source>
        <translation>%1 par les limites du plan</translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation>%1 libres</translation>
    </message>
    <message>
        <source>%1 in %2 is not a device: expected cpu, disk, cuda:N or sim:N</source>
        <translation>%1 dans %2 n’est pas un appareil : attendu cpu, disk, cuda:N ou sim:N</translation>
    </message>
    <message>
        <source>%1 is a device that Belfry does not have; the presets are listed by --help</source>
        <translation>%1 est un appareil que Belfry n’a pas ; --help énumère les préréglages</translation>
    </message>
    <message>
        <source>%1 is a device, not a map: for everything there give a file with %2</source>
        <translation>%1 est un appareil, pas un plan : pour tout y mettre, prenez un fichier avec %2</translation>
    </message>
    <message>
        <source>%1 is a device, not a map: the preset &quot;gpu&quot; puts everything there, and a file with {&quot;&quot;: &quot;cuda:0&quot;} does too</source>
        <translation>%1 est un appareil, pas un plan : le préréglage « gpu » y met tout, tout comme un fichier avec {&quot;&quot;: &quot;cuda:0&quot;}</translation>
    </message>
    <message>
        <source>%1 is accelerate&apos;s word for a placement that is worked out; here that is &quot;fit&quot;</source>
        <translation>%1 est le mot d’accelerate pour un placement calculé ; ici c’est « fit »</translation>
    </message>
    <message>
        <source>%1 is no module or tensor of this model</source>
        <translation>%1 n’est ni un module ni un tenseur de ce modèle</translation>
    </message>
    <message>
        <source>%1 is not in the library any more; look again</source>
        <translation>%1 n’est plus dans la bibliothèque ; cherchez encore</translation>
    </message>
    <message>
        <source>%1 names %2, which this machine does not have; it has %3, cpu and disk</source>
        <translation>%1 désigne %2, que cet ordinateur n’a pas ; il a %3, CPU et disque</translation>
    </message>
    <message>
        <source>%1 names %2, which this machine does not have; it has cpu and disk</source>
        <translation>%1 désigne %2, que cet ordinateur n’a pas ; il a CPU et disque</translation>
    </message>
    <message>
        <source>%1 replaces a base tensor although modules_to_save does not name it</source>
        <translation>%1 remplace un tenseur de la base bien que modules_to_save ne le nomme pas</translation>
    </message>
    <message>
        <source>%1 tensors compute on another device here: accelerate stores &quot;cpu&quot; and &quot;disk&quot; there but computes on %2, copying the weights for every call</source>
        <translation>%1 tenseurs calculent ici sur un autre appareil : accelerate y stocke « cpu » et « disk » mais calcule sur %2, en copiant les poids à chaque appel</translation>
    </message>
    <message>
        <source>%1 tensors compute on another device here: where nothing is stored on a GPU, accelerate computes on cpu</source>
        <translation>%1 tenseurs calculent ici sur un autre appareil : là où rien n’est stocké sur un GPU, accelerate calcule sur le CPU</translation>
    </message>
    <message>
        <source>%1 tensors in %2: there what is not quantized has one dtype</source>
        <translation>%1 tenseurs en %2 : ce qui n’est pas quantifié y a un seul type</translation>
    </message>
    <message>
        <source>%1 tensors keep a copy on their computing device here; accelerate copies them for every call</source>
        <translation>%1 tenseurs gardent ici une copie sur l’appareil qui les calcule ; accelerate les copie à chaque appel</translation>
    </message>
    <message>
        <source>%1 weights are stored as W4A16 and keep their codes and scales, as %2: nothing was quantized again</source>
        <translation>%1 poids sont enregistrés en W4A16 et gardent leurs codes et leurs échelles, en %2 : rien n&apos;a été quantifié à nouveau</translation>
    </message>
    <message>
        <source>%1 weights on cpu or disk have 4 bits here: transformers leaves what lies there in bfloat16, %2 instead of %3</source>
        <translation>%1 poids sur CPU ou disque ont ici 4 bits : transformers laisse en bfloat16 ce qui s’y trouve, %2 au lieu de %3</translation>
    </message>
    <message>
        <source>%1 quantized weights stored on disk are made from the checkpoint at every use; a cache keeps them as they are (--cache FOLDER)</source>
        <translation>%1 poids quantifiés sur le disque sont refaits depuis le checkpoint à chaque usage ; un cache les garde tels quels (--cache DOSSIER)</translation>
    </message>
    <message>
        <source>%1 multiprocessors</source>
        <translation>%1 multiprocesseurs</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 sur %2</translation>
    </message>
    <message>
        <source>%1 stored tensors without effect (%2) were not loaded</source>
        <translation>%1 tenseurs stockés sans effet (%2) n’ont pas été chargés</translation>
    </message>
    <message>
        <source>%1 threads</source>
        <translation>%1 fils</translation>
    </message>
    <message>
        <source>%1: a weight packed by compressed-tensors breaks the rule %2: expected %3, found %4. Download the model again, or use the 16-bit one.</source>
        <translation>%1 : un poids compacté par compressed-tensors enfreint la règle %2 : attendu %3, trouvé %4. Téléchargez le modèle à nouveau, ou prenez celui en 16 bits.</translation>
    </message>
    <message>
        <source>%1: its chat template cannot be compared with the prompt that is used (%2)</source>
        <translation>%1 : son modèle de conversation ne peut pas être comparé à l’invite utilisée (%2)</translation>
    </message>
    <message>
        <source>%1: its chat template is Google&apos;s of %2; there is a newer one, of %3, and its turns are the ones that are written here</source>
        <translation>%1 : son modèle de conversation est celui de Google du %2 ; il y en a un plus récent, du %3, et ce sont ses tours qui sont écrits ici</translation>
    </message>
    <message>
        <source>%1: its chat template would write this conversation otherwise: %2 where the prompt that is used has %3</source>
        <translation>%1 : son modèle de conversation écrirait cette conversation autrement : %2 là où l’invite utilisée a %3</translation>
    </message>
    <message>
        <source>%1: its chat template, Google&apos;s of %2, would write this conversation otherwise than the newer one, of %3, which is used: %4 where the prompt has %5</source>
        <translation>%1 : son modèle de conversation, celui de Google du %2, écrirait cette conversation autrement que le plus récent, du %3, qui est utilisé : %4 là où l’invite a %5</translation>
    </message>
    <message>
        <source>%1: of what compressed-tensors packs, W4A16 can be read (pack-quantized, 4 bits, symmetric, groups of 32), and this breaks its rule %2: expected %3, found %4. Use a W4A16 model of that form or the 16-bit one.</source>
        <translation>%1 : de ce que compressed-tensors compacte, W4A16 peut être lu (pack-quantized, 4 bits, symétrique, groupes de 32), et ceci enfreint sa règle %2 : attendu %3, trouvé %4. Prenez un modèle W4A16 de cette forme ou celui en 16 bits.</translation>
    </message>
    <message>
        <source>%1: re-quantized: %2 weights were not trained for this grid and are rounded to it</source>
        <translation>%1 : requantifiés : %2 poids n&apos;ont pas été entraînés pour cette grille et y sont arrondis</translation>
    </message>
    <message>
        <source>%1: stored as %2, expanded to %3</source>
        <translation>%1 : stocké en %2, déployé en %3</translation>
    </message>
    <message>
        <source>%1: trained grid: %2 weights lie on the grid they were trained for; of their %3 values, %4 are not exactly what the files hold</source>
        <translation>%1 : grille d&apos;entraînement : %2 poids sont sur la grille pour laquelle ils ont été entraînés ; de leurs %3 valeurs, %4 ne sont pas exactement celles des fichiers</translation>
    </message>
    <message>
        <source>%1: unknown member of its quantization state: %2</source>
        <translation>%1 : champ inconnu de son état de quantification : %2</translation>
    </message>
    <message>
        <source>%1: %2 more unknown members ignored (ST06)</source>
        <translation>%1 : %2 autres membres inconnus sont ignorés (ST06)</translation>
    </message>
    <message>
        <source>%1: a further chat template, chosen by name in transformers; it is not used</source>
        <translation>%1 : un modèle de conversation de plus, choisi par son nom dans transformers ; il n’est pas utilisé</translation>
    </message>
    <message>
        <source>%1: does not look like a Gemma 4 template; it is not used: this prompt is written with &lt;|turn&gt;, the template writes %2. A model that was trained on the template&apos;s turns may answer worse</source>
        <translation>%1 : ne ressemble pas à un modèle de conversation de Gemma 4 et n’est pas utilisé : les invites sont écrites avec &lt;|turn&gt;, le modèle écrit %2. Un modèle entraîné sur ses tours répond peut-être moins bien</translation>
    </message>
    <message>
        <source>%1: does not name these tensors of its shards, they are ignored: %2</source>
        <translation>%1 : ne nomme pas ces tenseurs de ses fichiers, qui sont ignorés : %2</translation>
    </message>
    <message>
        <source>%1: hold only their headers, no weights; download the whole files to load them</source>
        <translation>%1 : ne contiennent que leurs en-têtes, pas de poids ; téléchargez les fichiers entiers pour les charger</translation>
    </message>
    <message>
        <source>%1: holds only its header, no weights; download the whole file to load it</source>
        <translation>%1 : ne contient que son en-tête, pas de poids ; téléchargez le fichier entier pour le charger</translation>
    </message>
    <message>
        <source>%1: is used as the output head, as its values are not those of the token embedding, although config.json says that both are one table; &quot;tie_word_embeddings&quot;: false there says what the files hold</source>
        <translation>%1 : sert de tête, car ses valeurs ne sont pas celles du plongement des jetons, bien que config.json dise que les deux sont une table ; &quot;tie_word_embeddings&quot;: false y dirait ce que contiennent les fichiers</translation>
    </message>
    <message>
        <source>%1: metadata.total_size is %2, the tensors have %3 bytes</source>
        <translation>%1 : metadata.total_size est %2, les tenseurs ont %3 octets</translation>
    </message>
    <message>
        <source>%1: metadata.total_size is not a plain whole number; it is ignored</source>
        <translation>%1 : metadata.total_size n’est pas un nombre entier simple et est ignoré</translation>
    </message>
    <message>
        <source>%1: stands for the token embedding, which the files do not hold under its own name (config.json: both are one table)</source>
        <translation>%1 : tient lieu de plongement des jetons, que les fichiers ne contiennent pas sous son nom (config.json : les deux sont une table)</translation>
    </message>
    <message>
        <source>%1: tensor %2: element type %3 cannot be read; the tensor is skipped (ST05)</source>
        <translation>%1 : tenseur %2 : le type d’élément %3 ne peut pas être lu ; le tenseur est sauté (ST05)</translation>
    </message>
    <message>
        <source>%1: tensor %2: unknown member &quot;%3&quot; ignored (ST06)</source>
        <translation>%1 : tenseur %2 : le membre inconnu &quot;%3&quot; est ignoré (ST06)</translation>
    </message>
    <message>
        <source>%1: the output head is a tensor of its own, not the token embedding</source>
        <translation>%1 : la tête est un tenseur à elle, non le plongement des jetons</translation>
    </message>
    <message>
        <source>%1; computed once more, every layer gave finite values: a device or its memory may be failing. Try again, or with &quot;--device-map cpu&quot;</source>
        <translation>%1 ; recalculée, chaque couche a donné des valeurs finies : un appareil ou sa mémoire est peut-être défaillant. Réessayez, ou avec &quot;--device-map cpu&quot;</translation>
    </message>
    <message>
        <source>%1; the modules that have tensors in the file are taken as the targeted ones</source>
        <translation>%1 ; les modules qui ont des tenseurs dans le fichier sont pris pour cibles</translation>
    </message>
    <message>
        <source>%1; the ranks are taken from the shapes of the factors</source>
        <translation>%1 ; les rangs sont pris dans les formes des facteurs</translation>
    </message>
    <message>
        <source>%1 lies below the tensor %2, which has no parts; did you mean %2?</source>
        <translation>%1 se trouve sous le tenseur %2, qui n’a pas de parties ; vouliez-vous dire %2 ?</translation>
    </message>
    <message>
        <source>%1 needs %2 (%3 bytes) but may use %4 (%5 bytes), %6 too much (%7). The largest parts: %8</source>
        <translation>%1 a besoin de %2 (%3 octets) mais peut utiliser %4 (%5 octets), %6 de trop (%7). Les plus grandes parties : %8</translation>
    </message>
    <message>
        <source>%1 on %2 %3</source>
        <translation>%1 sur %2 %3</translation>
    </message>
    <message>
        <source>%1 or %2</source>
        <translation>%1 ou %2</translation>
    </message>
    <message>
        <source>%1 points inside a weight: codes and statistics of %2 are one tensor and live on one device; name %2</source>
        <translation>%1 désigne l’intérieur d’un poids : les codes et statistiques de %2 sont un seul tenseur, sur un seul appareil ; nommez %2</translation>
    </message>
    <message>
        <source>%1 ranges exist only in maps with &quot;version&quot;: 1</source>
        <translation>%1 Les intervalles n’existent que dans les plans avec &quot;version&quot;: 1</translation>
    </message>
    <message>
        <source>%1 tensors, the first: %2</source>
        <translation>%1 tenseurs, le premier : %2</translation>
    </message>
    <message>
        <source>%1 weights of the checkpoint are packed already and stay as stored; --quant applies to the others</source>
        <translation>%1 poids du checkpoint sont déjà compactés et restent tels quels ; --quant s’applique aux autres</translation>
    </message>
    <message>
        <source>%1: %2 less on %3 (%4 remain); %5</source>
        <translation>%1 : %2 de moins sur %3 (il reste %4) ; %5</translation>
    </message>
    <message>
        <source>%1: what the driver takes for itself is assumed, not measured (the management library, NVML, does not tell)</source>
        <translation>%1 : ce que le pilote prend pour lui est supposé, non mesuré (la bibliothèque de gestion, NVML, ne le dit pas)</translation>
    </message>
    <message>
        <source>%1; what is elsewhere is computed faster there</source>
        <translation>%1 ; ce qui est ailleurs y est calculé plus vite</translation>
    </message>
    <message>
        <source>%1 that the system lets this program have</source>
        <translation>%1 que le système laisse à ce programme</translation>
    </message>
    <message>
        <source>%1, less %2 that the map reserves</source>
        <translation>%1, moins %2 que le plan garde libres</translation>
    </message>
    <message>
        <source>%1. This is a Python dictionary as print() shows it, not JSON: write the file with json.dump(model.hf_device_map, file), or put double quotes around keys and values</source>
        <translation>%1. C’est un dictionnaire Python tel que print() le montre, pas du JSON : écrivez le fichier avec json.dump(model.hf_device_map, file), ou mettez des guillemets doubles autour des clés et des valeurs</translation>
    </message>
    <message>
        <source>%1: expected %2, found %3</source>
        <translation>%1 : attendu : %2, trouvé : %3</translation>
    </message>
    <message>
        <source>%1; did you mean %2?</source>
        <translation>%1 ; vouliez-vous dire %2 ?</translation>
    </message>
    <message>
        <source>%1; ranges exist only in maps with &quot;version&quot;: 1</source>
        <translation>%1 ; les intervalles n’existent que dans les plans avec &quot;version&quot;: 1</translation>
    </message>
    <message>
        <source>%1; valid numbers for %2 are 0 to %3</source>
        <translation>%1 ; les numéros valides pour %2 vont de 0 à %3</translation>
    </message>
    <message>
        <source>&apos;,&apos; or &apos;]&apos;</source>
        <translation>« , » ou « ] »</translation>
    </message>
    <message>
        <source>&apos;,&apos; or &apos;}&apos;</source>
        <translation>« , » ou « } »</translation>
    </message>
    <message>
        <source>&apos;:&apos; after %1</source>
        <translation>« : » après %1</translation>
    </message>
    <message>
        <source>&quot;%1&quot; between values that have no such operation</source>
        <translation>&quot;%1&quot; entre des valeurs qui n’ont pas cette opération</translation>
    </message>
    <message>
        <source>&quot;%1&quot; is missing</source>
        <translation>&quot;%1&quot; manque</translation>
    </message>
    <message>
        <source>&quot;%1&quot; is not a known initialisation; whether it changed the base weights cannot be told</source>
        <translation>&quot;%1&quot; n’est pas une initialisation connue ; on ne peut pas dire si elle a changé les poids de base</translation>
    </message>
    <message>
        <source>&quot;%1&quot; replaced the base weights while training; the adapter is right only on that changed base. Ask its author for a converted adapter, or allow it if the loaded base is the changed one</source>
        <translation>&quot;%1&quot; a remplacé les poids de base pendant l’entraînement ; l’adaptateur n’est juste que sur cette base changée. Demandez à son auteur un adaptateur converti, ou permettez-le si la base chargée est la base changée</translation>
    </message>
    <message>
        <source>&quot;cpu&quot;, &quot;cuda:N&quot; or &quot;sim:N&quot; (nothing computes on disk)</source>
        <translation>&quot;cpu&quot;, &quot;cuda:N&quot; ou &quot;sim:N&quot; (rien ne calcule sur disque)</translation>
    </message>
    <message>
        <source>&quot;cpu&quot;, &quot;disk&quot;, &quot;cuda:N&quot; or &quot;sim:N&quot;</source>
        <translation>&quot;cpu&quot;, &quot;disk&quot;, &quot;cuda:N&quot; ou &quot;sim:N&quot;</translation>
    </message>
    <message>
        <source>&quot;cpu&quot;, &quot;disk&quot;, &quot;cuda:N&quot;, &quot;sim:N&quot; or a device number</source>
        <translation>&quot;cpu&quot;, &quot;disk&quot;, &quot;cuda:N&quot;, &quot;sim:N&quot; ou le numéro d’un appareil</translation>
    </message>
    <message>
        <source>&quot;cpu&quot;, &quot;disk&quot;, &quot;cuda:N&quot;, &quot;sim:N&quot;, a device number from 0 to 63 or an object</source>
        <translation>&quot;cpu&quot;, &quot;disk&quot;, &quot;cuda:N&quot;, &quot;sim:N&quot;, un numéro d’appareil de 0 à 63 ou un objet</translation>
    </message>
    <message>
        <source>&quot;disk&quot; says where bytes are stored, not what computes</source>
        <translation>&quot;disk&quot; dit où sont les octets, non ce qui calcule</translation>
    </message>
    <message>
        <source>&quot;LORA&quot;</source>
        <translation>&quot;LORA&quot;</translation>
    </message>
    <message>
        <source>&quot;bfloat16&quot;, &quot;float16&quot; or &quot;float32&quot;</source>
        <translation>&quot;bfloat16&quot;, &quot;float16&quot; ou &quot;float32&quot;</translation>
    </message>
    <message>
        <source>&quot;in&quot; on what holds nothing</source>
        <translation>&quot;in&quot; sur ce qui ne contient rien</translation>
    </message>
    <message>
        <source>&quot;nf4&quot; or &quot;fp4&quot;</source>
        <translation>&quot;nf4&quot; ou &quot;fp4&quot;</translation>
    </message>
    <message>
        <source>&quot;none&quot;, &quot;all&quot; or &quot;lora_only&quot;</source>
        <translation>&quot;none&quot;, &quot;all&quot; ou &quot;lora_only&quot;</translation>
    </message>
    <message>
        <source>%1 %2 is too short: it makes no soft token</source>
        <translation>%1 %2 est trop court : cela ne donne aucun jeton</translation>
    </message>
    <message>
        <source>%1 %2: expected one of %3</source>
        <translation>%1 %2 : attendu l’un de %3</translation>
    </message>
    <message>
        <source>%1 (and %2 more)</source>
        <translation>%1 (et %2 autres)</translation>
    </message>
    <message>
        <source>%1 (at byte %2)</source>
        <translation>%1 (à l’octet %2)</translation>
    </message>
    <message>
        <source>%1 Make the plan again for this model.</source>
        <translation>%1 Refaites le plan pour ce modèle.</translation>
    </message>
    <message>
        <source>%1 and %2</source>
        <translation>%1 et %2</translation>
    </message>
    <message>
        <source>%1 and %2 more</source>
        <translation>%1 et %2 autres</translation>
    </message>
    <message>
        <source>%1 at byte %2</source>
        <translation>%1 à l’octet %2</translation>
    </message>
    <message>
        <source>%1 at entry %2</source>
        <translation>%1 à l’entrée %2</translation>
    </message>
    <message>
        <source>%1 belongs to a packed weight</source>
        <translation>%1 appartient à un poids compacté</translation>
    </message>
    <message>
        <source>%1 bytes of codes</source>
        <translation>%1 octets de codes</translation>
    </message>
    <message>
        <source>%1 bytes, %2</source>
        <translation>%1 octets, %2</translation>
    </message>
    <message>
        <source>%1 cannot be opened: %2</source>
        <translation>%1 ne peut pas être ouvert : %2</translation>
    </message>
    <message>
        <source>%1 failed while weights were copied to it</source>
        <translation>%1 a échoué pendant la copie de poids vers lui</translation>
    </message>
    <message>
        <source>%1 failed while weights were moved</source>
        <translation>%1 a échoué pendant le déplacement de poids</translation>
    </message>
    <message>
        <source>%1 file is truncated: its &apos;%2&apos; chunk declares %3 bytes, the file has %4 left</source>
        <translation>le fichier %1 est tronqué : son bloc &apos;%2&apos; déclare %3 octets, il en reste %4</translation>
    </message>
    <message>
        <source>%1 has no content of 1 to %2 bytes</source>
        <translation>%1 n’a pas de contenu de 1 à %2 octets</translation>
    </message>
    <message>
        <source>%1 has no id</source>
        <translation>%1 n’a pas de numéro</translation>
    </message>
    <message>
        <source>%1 has no room for %2: %3 asked, %4 free of %5. Move parts to another device, choose a smaller context or a smaller format.</source>
        <translation>%1 n’a pas de place pour %2 : %3 demandés, %4 libres sur %5. Déplacez des parties sur un autre appareil, choisissez un contexte plus petit ou un format plus petit.</translation>
    </message>
    <message>
        <source>%1 has no room for %2: %3 asked. Move parts to another device, choose a smaller context or a smaller format.</source>
        <translation>%1 n’a pas de place pour %2 : %3 demandés. Déplacez des parties sur un autre appareil, choisissez un contexte plus petit ou un format plus petit.</translation>
    </message>
    <message>
        <source>%1 has the id %2, expected a whole number from 0 to %3</source>
        <translation>%1 a le numéro %2, attendu : un nombre entier de 0 à %3</translation>
    </message>
    <message>
        <source>%1 ids in trainable_token_indices, rows of %2</source>
        <translation>%1 numéros dans trainable_token_indices, lignes de %2</translation>
    </message>
    <message>
        <source>%1 image tokens were asked for; the model was loaded for at most %2, load again with --image-tokens %3</source>
        <translation>%1 jetons par image ont été demandés ; le modèle a été chargé pour %2 au plus, rechargez avec --image-tokens %3</translation>
    </message>
    <message>
        <source>%1 is %2; expected a finite number. The file is damaged or its training had diverged: download it again, or take another checkpoint</source>
        <translation>%1 est %2 ; attendu : un nombre fini. Le fichier est endommagé ou son entraînement avait divergé : téléchargez-le à nouveau, ou prenez un autre checkpoint</translation>
    </message>
    <message>
        <source>%1 is planned to be stored on %2 and computed on %3; only cpu and disk store for others.</source>
        <translation>%1 doit être stocké sur %2 et calculé sur %3 selon le plan ; seuls le CPU et le disque stockent pour d’autres.</translation>
    </message>
    <message>
        <source>%1 is planned to compute on disk, which cannot compute.</source>
        <translation>%1 doit calculer sur disque selon le plan, ce qu’un disque ne peut pas.</translation>
    </message>
    <message>
        <source>%1 is stored as %2</source>
        <translation>%1 est enregistré en %2</translation>
    </message>
    <message>
        <source>%1 needs %2 bytes as %3, the plan says %4.</source>
        <translation>%1 demande %2 octets en %3, le plan dit %4.</translation>
    </message>
    <message>
        <source>%1 of the model</source>
        <translation>%1 du modèle</translation>
    </message>
    <message>
        <source>%1 of the module is missing</source>
        <translation>%1 du module manque</translation>
    </message>
    <message>
        <source>%1 such keys</source>
        <translation>%1 clés de ce genre</translation>
    </message>
    <message>
        <source>%1 token ids, at most %2 are read</source>
        <translation>%1 numéros de jetons, %2 au plus sont lus</translation>
    </message>
    <message>
        <source>%1 twice</source>
        <translation>%1 deux fois</translation>
    </message>
    <message>
        <source>%1 with %2 entries</source>
        <translation>%1 avec %2 entrées</translation>
    </message>
    <message>
        <source>%1, but %2 is; if it is the adapter, rename it to adapter_model.safetensors</source>
        <translation>%1, mais %2 y est ; si c’est l’adaptateur, renommez-le en adapter_model.safetensors</translation>
    </message>
    <message>
        <source>%1, but adapter_config.json is: this is an adapter. Open its base model and add the adapter to it</source>
        <translation>%1, mais adapter_config.json y est : c’est un adaptateur. Ouvrez son modèle de base et ajoutez-lui l’adaptateur</translation>
    </message>
    <message>
        <source>%1, but adapters.safetensors is, as mlx-lm calls it; if PEFT wrote the file, rename it to adapter_model.safetensors</source>
        <translation>%1, mais adapters.safetensors y est, comme mlx-lm l’appelle ; si PEFT a écrit le fichier, renommez-le en adapter_model.safetensors</translation>
    </message>
    <message>
        <source>%1, but config.json is: this is a model, not an adapter. Open it as the model</source>
        <translation>%1, mais config.json y est : c’est un modèle, pas un adaptateur. Ouvrez-le comme modèle</translation>
    </message>
    <message>
        <source>%1: %2 bytes, at most %3 are read</source>
        <translation>%1 : %2 octets, %3 au plus sont lus</translation>
    </message>
    <message>
        <source>%1: %2 is %3, expected true or false</source>
        <translation>%1 : %2 est %3, attendu : true ou false</translation>
    </message>
    <message>
        <source>%1: %2 modules that adapter_config.json targets have no tensors (first: %3), and with init_lora_weights false they would be random noise</source>
        <translation>%1 : %2 modules que vise adapter_config.json n’ont pas de tenseurs (le premier : %3), et avec init_lora_weights false ils seraient du bruit aléatoire</translation>
    </message>
    <message>
        <source>%1: %2 was not loaded when the adapter was added; remove the adapter and add it again</source>
        <translation>%1 : %2 n’était pas chargé quand l’adaptateur a été ajouté ; enlevez l’adaptateur et ajoutez-le à nouveau</translation>
    </message>
    <message>
        <source>%1: %2: output %3 of %4 has norm %5 with the update added, so that its magnitude cannot be scaled</source>
        <translation>%1 : %2 : la sortie %3 de %4 a la norme %5 avec la mise à jour, si bien que sa grandeur ne peut pas être ajustée</translation>
    </message>
    <message>
        <source>%1: %2: the layer has no bias that could hold the bias of lora_B; use the adapter unmerged</source>
        <translation>%1 : %2 : la couche n’a pas de biais qui puisse recevoir celui de lora_B ; utilisez l’adaptateur sans le fusionner</translation>
    </message>
    <message>
        <source>%1: %2; merging into packed weights rounds the adapter away. Merge into the 16-bit model and quantize the result</source>
        <translation>%1 : %2 ; fusionner dans des poids compactés perd l’adaptateur à l’arrondi. Fusionnez dans le modèle 16 bits et quantifiez le résultat</translation>
    </message>
    <message>
        <source>%1: a Python pickle file can run code when it is read and is never opened; convert the adapter to adapter_model.safetensors (PEFT: load it and call save_pretrained)</source>
        <translation>%1 : un fichier pickle de Python peut exécuter du code à la lecture et n’est jamais ouvert ; convertissez l’adaptateur en adapter_model.safetensors (PEFT : chargez-le et appelez save_pretrained)</translation>
    </message>
    <message>
        <source>%1: a norm weight cannot be quantized</source>
        <translation>%1 : le poids d’une norme ne peut pas être quantifié</translation>
    </message>
    <message>
        <source>%1: a range outside the tensor was asked for</source>
        <translation>%1 : une plage hors du tenseur a été demandée</translation>
    </message>
    <message>
        <source>%1: cannot be copied: %2</source>
        <translation>%1 : ne peut pas être copié : %2</translation>
    </message>
    <message>
        <source>%1: cannot be created: %2</source>
        <translation>%1 : ne peut pas être créé : %2</translation>
    </message>
    <message>
        <source>%1: cannot be listed: %2</source>
        <translation>%1 : ne peut pas être listé : %2</translation>
    </message>
    <message>
        <source>%1: is an address, expected the path of a file; give the path of a copy on this computer</source>
        <translation>%1 : est une adresse, un chemin de fichier est attendu ; donnez le chemin d’une copie sur cet ordinateur</translation>
    </message>
    <message>
        <source>%1: is a data: address, expected the path of a file; save what it holds as a file and give its path</source>
        <translation>%1 : est une adresse data:, un chemin de fichier est attendu ; enregistrez son contenu dans un fichier et donnez-en le chemin</translation>
    </message>
    <message>
        <source>%1: cannot be opened: no such file; check the folder and the spelling</source>
        <translation>%1 : ne peut pas être ouvert : pas de tel fichier ; vérifiez le dossier et l’orthographe</translation>
    </message>
    <message>
        <source>%1: changed while it was read; ask again</source>
        <translation>%1 : a changé pendant la lecture ; demandez à nouveau</translation>
    </message>
    <message>
        <source>%1: changed while the model was merged</source>
        <translation>%1 : a changé pendant la fusion du modèle</translation>
    </message>
    <message>
        <source>%1: could not be read to its end</source>
        <translation>%1 : n’a pas pu être lu jusqu’au bout</translation>
    </message>
    <message>
        <source>%1: element %2 is %3, f16 holds finite values up to 65504; give it &quot;format&quot;: &quot;bf16&quot; or leave it as stored</source>
        <translation>%1 : l’élément %2 est %3, f16 contient des valeurs finies jusqu’à 65504 ; donnez-lui &quot;format&quot;: &quot;bf16&quot; ou laissez-le comme enregistré</translation>
    </message>
    <message>
        <source>%1: element %2 is %3, so that %4 cannot be computed; a weight must be a finite number. The file is damaged or its training had diverged: download it again, or take another checkpoint</source>
        <translation>%1 : l’élément %2 est %3, si bien qu’on ne peut pas calculer ceci : %4 ; un poids doit être un nombre fini. Le fichier est endommagé ou son entraînement avait divergé : téléchargez-le à nouveau, ou prenez un autre checkpoint</translation>
    </message>
    <message>
        <source>%1: element %2 is %3; expected a finite number. The file is damaged or its training had diverged: download it again, or take another checkpoint</source>
        <translation>%1 : l’élément %2 est %3 ; attendu : un nombre fini. Le fichier est endommagé ou son entraînement avait divergé : téléchargez-le à nouveau, ou prenez un autre checkpoint</translation>
    </message>
    <message>
        <source>%1: element %2 is infinite or not a number; only finite weights can be quantized. Load this module unquantized, or get an undamaged copy of the checkpoint.</source>
        <translation>%1 : l’élément %2 est infini ou n’est pas un nombre ; seuls des poids finis peuvent être quantifiés. Chargez ce module non quantifié, ou procurez-vous une copie intacte du checkpoint.</translation>
    </message>
    <message>
        <source>%1: blocks of its format reach from one expert into the next; leave it as stored, or ask for another format</source>
        <translation>%1 : des blocs de ce format vont d’un expert à l’autre ; laissez-le tel quel ou demandez un autre format</translation>
    </message>
    <message>
        <source>%1: has element type %2; Belfry reads BF16, F16 and F32 weights and bitsandbytes&apos; 4-bit and int8 ones</source>
        <translation>%1 : a des éléments de type %2 ; Belfry lit les poids BF16, F16 et F32 et ceux de bitsandbytes en 4 bits et int8</translation>
    </message>
    <message>
        <source>%1: has no row %2, it has %3 rows</source>
        <translation>%1 : n’a pas de ligne %2, elle a %3 lignes</translation>
    </message>
    <message>
        <source>%1: has shape %2, config.json makes it %3; model files and config.json belong to different models</source>
        <translation>%1 : a la forme %2, d’après config.json elle est %3 ; les fichiers du modèle et config.json appartiennent à des modèles différents</translation>
    </message>
    <message>
        <source>%1: holds %2 values, the config implies %3</source>
        <translation>%1 : contient %2 valeurs, la configuration en implique %3</translation>
    </message>
    <message>
        <source>%1: holds %2, which cannot be read; use the 16-bit model (for MLX the one it was converted from) or a bitsandbytes 4-bit one</source>
        <translation>%1 : contient %2, ce qui ne peut pas être lu ; prenez le modèle 16 bits (pour MLX celui dont il provient) ou un modèle 4 bits de bitsandbytes</translation>
    </message>
    <message>
        <source>%1: holds %2; adapter configurations are far smaller</source>
        <translation>%1 : contient %2 ; les configurations d’adaptateurs sont bien plus petites</translation>
    </message>
    <message>
        <source>%1: holds no tensors</source>
        <translation>%1 : ne contient aucun tenseur</translation>
    </message>
    <message>
        <source>%1: is packed in 4 bits, but only 2-dimensional .weight tensors can be</source>
        <translation>%1 : est compacté en 4 bits, mais seuls les tenseurs .weight à 2 dimensions peuvent l’être</translation>
    </message>
    <message>
        <source>%1: is stored as int8 rows, but has %2 dimensions</source>
        <translation>%1 : est enregistré en lignes int8, mais a %2 dimensions</translation>
    </message>
    <message>
        <source>%1: its values are finite, but what it computes is too large for a float or not a number (%2). %3</source>
        <translation>%1 : ses valeurs sont finies, mais ce qu’il calcule est trop grand pour un flottant ou n’est pas un nombre (%2). %3</translation>
    </message>
    <message>
        <source>%1: merging gives a value that is not finite</source>
        <translation>%1 : la fusion donne une valeur qui n’est pas finie</translation>
    </message>
    <message>
        <source>%1: merging keeps %2 of the update (%3 to %4 wanted): the update is too small for the type of the weights; use the adapter unmerged</source>
        <translation>%1 : la fusion garde %2 de la mise à jour (voulu : %3 à %4) : la mise à jour est trop petite pour le type des poids ; utilisez l’adaptateur sans le fusionner</translation>
    </message>
    <message>
        <source>%1: mixes two spellings of module paths, %2 (%3) and %4 (%5); save the adapter from one model class</source>
        <translation>%1 : mélange deux façons d’écrire les chemins de modules, %2 (%3) et %4 (%5) ; enregistrez l’adaptateur depuis une seule classe de modèle</translation>
    </message>
    <message>
        <source>%1: neither a file nor a preset (%2)</source>
        <translation>%1 : ni un fichier ni un préréglage (%2)</translation>
    </message>
    <message>
        <source>%1: no page-locked memory for the decode step</source>
        <translation>%1 : pas de mémoire verrouillée pour l’étape de décodage</translation>
    </message>
    <message>
        <source>%1: none of its %2 tensors would act</source>
        <translation>%1 : aucun de ses %2 tenseurs n’agirait</translation>
    </message>
    <message>
        <source>%1: not a readable file</source>
        <translation>%1 : pas un fichier lisible</translation>
    </message>
    <message>
        <source>%1: not all weights are in the folder; a plan can be made, a load cannot</source>
        <translation>%1 : tous les poids ne sont pas dans le dossier ; planifier est possible, charger non</translation>
    </message>
    <message>
        <source>%1: not found in %2</source>
        <translation>%1 : introuvable dans %2</translation>
    </message>
    <message>
        <source>%1: only %2 of %3 tensors find a module in this model (first without: %4); %5</source>
        <translation>%1 : seuls %2 tenseurs sur %3 trouvent un module dans ce modèle (le premier sans : %4) ; %5</translation>
    </message>
    <message>
        <source>%1: quantized weight breaks the rule %2: expected %3, found %4. Download the checkpoint again, or quantize from the unpacked model.</source>
        <translation>%1 : un poids quantifié enfreint la règle %2 : attendu %3, trouvé %4. Téléchargez le checkpoint à nouveau, ou quantifiez depuis le modèle non compacté.</translation>
    </message>
    <message>
        <source>%1: strength %2, expected 0 to 2</source>
        <translation>%1 : force %2, attendu 0 à 2</translation>
    </message>
    <message>
        <source>%1: tensor %2 has an element type that Belfry cannot read; use a bf16, fp16 or fp32 checkpoint</source>
        <translation>%1 : le tenseur %2 a un type d’éléments que Belfry ne peut pas lire ; prenez un checkpoint bf16, fp16 ou fp32</translation>
    </message>
    <message>
        <source>%1: the KV cache of layer %2 needs %3 bytes, %4 are free; choose a smaller context or move a part away</source>
        <translation>%1 : le cache KV de la couche %2 demande %3 octets, %4 sont libres ; choisissez un contexte plus petit ou déplacez une partie</translation>
    </message>
    <message>
        <source>%1: the adapter changes it, the model folder lacks it</source>
        <translation>%1 : l’adaptateur le change, il manque dans le dossier du modèle</translation>
    </message>
    <message>
        <source>%1: the chat template cannot write this conversation (%2)</source>
        <translation>%1 : le modèle de conversation ne peut pas écrire cette conversation (%2)</translation>
    </message>
    <message>
        <source>%1: the checkpoint does not hold this tensor</source>
        <translation>%1 : le checkpoint ne contient pas ce tenseur</translation>
    </message>
    <message>
        <source>%1: the checkpoint does not hold this tensor; expected shape [%2]</source>
        <translation>%1 : le checkpoint ne contient pas ce tenseur ; forme attendue : [%2]</translation>
    </message>
    <message>
        <source>%1: the device has no kernel for this</source>
        <translation>%1 : l’appareil n’a pas de noyau pour cela</translation>
    </message>
    <message>
        <source>%1: the device has no memory left</source>
        <translation>%1 : l’appareil n’a plus de mémoire</translation>
    </message>
    <message>
        <source>%1: the device ran out of memory in step %2; lower the context or move a part to the CPU</source>
        <translation>%1 : l’appareil a manqué de mémoire à l’étape %2 ; réduisez le contexte ou déplacez une partie sur le CPU</translation>
    </message>
    <message>
        <source>%1: the device stopped answering (%2)</source>
        <translation>%1 : l’appareil a cessé de répondre (%2)</translation>
    </message>
    <message>
        <source>%1: the device stopped answering in step %2</source>
        <translation>%1 : l’appareil a cessé de répondre à l’étape %2</translation>
    </message>
    <message>
        <source>%1: the device was lost</source>
        <translation>%1 : l’appareil a été perdu</translation>
    </message>
    <message>
        <source>%1: the file exists already and is not replaced (it may be in use); choose another folder or remove it first</source>
        <translation>%1 : le fichier existe déjà et n’est pas remplacé (il est peut-être utilisé) ; choisissez un autre dossier ou enlevez-le d’abord</translation>
    </message>
    <message>
        <source>%1: the files hold it twice, as %2 and as %3; which one is meant cannot be told. Leave one of them out</source>
        <translation>%1 : les fichiers le contiennent deux fois, comme %2 et comme %3 ; on ne peut pas dire lequel est le bon. Enlevez l’un d’eux</translation>
    </message>
    <message>
        <source>%1: the finished folder cannot be given its name: %2; choose another</source>
        <translation>%1 : le dossier terminé ne peut pas recevoir son nom : %2 ; choisissez-en un autre</translation>
    </message>
    <message>
        <source>%1: the output folder exists and is not empty, or is no folder; choose a new one</source>
        <translation>%1 : le dossier de sortie existe et n’est pas vide, ou n’est pas un dossier ; choisissez-en un nouveau</translation>
    </message>
    <message>
        <source>%1: the recording has %2 seconds, the model hears at most %3; choose a part of it</source>
        <translation>%1 : l’enregistrement a %2 secondes, le modèle en entend %3 au plus ; choisissez-en une partie</translation>
    </message>
    <message>
        <source>%1: the tokens %2 and %3 both have the id %4</source>
        <translation>%1 : les jetons %2 et %3 ont tous deux le numéro %4</translation>
    </message>
    <message>
        <source>%1: the weight files are not in the folder; a plan can be made, a load cannot</source>
        <translation>%1 : les fichiers de poids ne sont pas dans le dossier ; planifier est possible, charger non</translation>
    </message>
    <message>
        <source>%1: the workspace needs %2 bytes, %3 are free; lower the prefill chunk or the image token budget</source>
        <translation>%1 : l’espace de travail demande %2 octets, %3 sont libres ; lisez les invites par morceaux plus petits ou prenez moins de jetons par image</translation>
    </message>
    <message>
        <source>%1: there is no such file in the folder; download it beside the weights</source>
        <translation>%1 : il n’y a pas de tel fichier dans le dossier ; téléchargez-le à côté des poids</translation>
    </message>
    <message>
        <source>%1: there is no such folder</source>
        <translation>%1 : il n’y a pas de tel dossier</translation>
    </message>
    <message>
        <source>%1: there is no such folder. It looks like the name of a repository on the Hugging Face Hub; %2</source>
        <translation>%1 : il n’y a pas de tel dossier. Cela ressemble au nom d’un dépôt du Hugging Face Hub ; %2</translation>
    </message>
    <message>
        <source>%1: there is no such tensor</source>
        <translation>%1 : il n’y a pas de tel tenseur</translation>
    </message>
    <message>
        <source>%1: this device has no kernel for step %2 in the chosen format</source>
        <translation>%1 : cet appareil n’a pas de noyau pour l’étape %2 dans le format choisi</translation>
    </message>
    <message>
        <source>%1: trainable_token_indices names %2, but its trainable_tokens_delta is missing</source>
        <translation>%1 : trainable_token_indices nomme %2, mais son trainable_tokens_delta manque</translation>
    </message>
    <message>
        <source>%1; an adapter folder holds adapter_config.json and adapter_model.safetensors</source>
        <translation>%1 ; un dossier d’adaptateur contient adapter_config.json et adapter_model.safetensors</translation>
    </message>
    <message>
        <source>%1; below it there is one in: %2. Choose that folder</source>
        <translation>%1 ; plus bas il y en a un dans : %2. Choisissez ce dossier</translation>
    </message>
    <message>
        <source>%1; download it</source>
        <translation>%1 ; téléchargez-le</translation>
    </message>
    <message>
        <source>%1; free memory there or move modules to another device</source>
        <translation>%1 ; libérez-y de la mémoire ou déplacez des modules sur un autre appareil</translation>
    </message>
    <message>
        <source>%1; its largest weight is element %2 of %3, %4</source>
        <translation>%1 ; son plus grand poids est l’élément %2 de %3, %4</translation>
    </message>
    <message>
        <source>%1; keep one</source>
        <translation>%1 ; gardez-en un</translation>
    </message>
    <message>
        <source>%1; reload the model, or restart the program if it stays so</source>
        <translation>%1 ; rechargez le modèle, ou redémarrez le programme si cela persiste</translation>
    </message>
    <message>
        <source>%1; the former model could not be loaded again: %2</source>
        <translation>%1 ; l’ancien modèle n’a pas pu être rechargé : %2</translation>
    </message>
    <message>
        <source>%1; the former placement could not be restored: %2</source>
        <translation>%1 ; l’ancien placement n’a pas pu être rétabli : %2</translation>
    </message>
    <message>
        <source>%1; the largest value it is given is %2</source>
        <translation>%1 ; la plus grande valeur qu’elle reçoit est %2</translation>
    </message>
    <message>
        <source>--head</source>
        <translation>--head</translation>
    </message>
    <message>
        <source>--quant</source>
        <translation>--quant</translation>
    </message>
    <message>
        <source>--head has no effect: the checkpoint holds the head packed as %1, and it stays so</source>
        <translation>--head est sans effet : le checkpoint contient la tête compactée en %1, et elle le reste</translation>
    </message>
    <message>
        <source>--head has no effect: the map gives embed_tokens a format, and the head is the same table</source>
        <translation>--head est sans effet : le plan donne un format à embed_tokens, et la tête est la même table</translation>
    </message>
    <message>
        <source>--kv</source>
        <translation>--kv</translation>
    </message>
    <message>
        <source>--limit names %1, which this machine does not have</source>
        <translation>--limit désigne %1, que cet ordinateur n’a pas</translation>
    </message>
    <message>
        <source>--quant-block: expected a power of two from 32 to 4096, found %1</source>
        <translation>--quant-block : attendu une puissance de deux de 32 à 4096, trouvé %1</translation>
    </message>
    <message>
        <source>--shape %1: expected e2b, e4b, 12b, 26b or 31b</source>
        <translation>--shape %1 : attendu e2b, e4b, 12b, 26b ou 31b</translation>
    </message>
    <message>
        <source>0 (off) or a positive whole number</source>
        <translation>0 (désactivé) ou un nombre entier positif</translation>
    </message>
    <message>
        <source>0 (row-major)</source>
        <translation>0 (par lignes)</translation>
    </message>
    <message>
        <source>1 tensor computes on another device here: accelerate stores &quot;cpu&quot; and &quot;disk&quot; there but computes on %1, copying the weights for every call</source>
        <translation>1 tenseur calcule ici sur un autre appareil : accelerate y stocke « cpu » et « disk » mais calcule sur %1, en copiant les poids à chaque appel</translation>
    </message>
    <message>
        <source>1 tensor computes on another device here: where nothing is stored on a GPU, accelerate computes on cpu</source>
        <translation>1 tenseur calcule ici sur un autre appareil : là où rien n’est stocké sur un GPU, accelerate calcule sur le CPU</translation>
    </message>
    <message>
        <source>1 tensor in %1: there what is not quantized has one dtype</source>
        <translation>1 tenseur en %1 : ce qui n’est pas quantifié y a un seul type</translation>
    </message>
    <message>
        <source>1 tensor keeps a copy on its computing device here; accelerate copies it for every call</source>
        <translation>1 tenseur garde ici une copie sur l’appareil qui le calcule ; accelerate le copie à chaque appel</translation>
    </message>
    <message>
        <source>1 tensor: %1</source>
        <translation>1 tenseur : %1</translation>
    </message>
    <message>
        <source>1 (the only version there is)</source>
        <translation>1 (la seule version qui existe)</translation>
    </message>
    <message>
        <source>1 to 4096 bytes</source>
        <translation>1 à 4096 octets</translation>
    </message>
    <message>
        <source>1 weight on cpu or disk has 4 bits here: transformers leaves what lies there in bfloat16, %1 instead of %2</source>
        <translation>1 poids sur CPU ou disque a ici 4 bits : transformers laisse en bfloat16 ce qui s’y trouve, %1 au lieu de %2</translation>
    </message>
    <message>
        <source>1 weight of the checkpoint is packed already and stays as stored; --quant applies to the others</source>
        <translation>1 poids du checkpoint est déjà compacté et reste tel quel ; --quant s’applique aux autres</translation>
    </message>
    <message>
        <source>32, 64, 128, 256, 512, 1024, 2048 or 4096</source>
        <translation>32, 64, 128, 256, 512, 1024, 2048 ou 4096</translation>
    </message>
    <message>
        <source>a context of %1 tokens is more than the model has positions for; planned with %2</source>
        <translation>un contexte de %1 jetons dépasse ce que le modèle accepte ; planifié avec %2</translation>
    </message>
    <message>
        <source>adapter weights for %1 are not counted: the plan has no such tensor</source>
        <translation>les poids de l’adaptateur pour %1 ne sont pas comptés : le plan n’a pas ce tenseur</translation>
    </message>
    <message>
        <source>adapter %1: %2</source>
        <translation>adaptateur %1 : %2</translation>
    </message>
    <message>
        <source>adapter %1: %2 of %3 tensors of its file are not applied, the first: %4 (%5)</source>
        <translation>adaptateur %1 : %2 des %3 tenseurs de son fichier ne sont pas appliqués, le premier : %4 (%5)</translation>
    </message>
    <message>
        <source>a load would fail at %1 more tensors</source>
        <translation>le chargement échouerait sur %1 autres tenseurs</translation>
    </message>
    <message>
        <source>a load would fail: %1</source>
        <translation>le chargement échouerait : %1</translation>
    </message>
    <message>
        <source>adapter_config.json: %1 is %2, a member that is not known here; it is ignored, and the adapter may act otherwise than in PEFT</source>
        <translation>adapter_config.json : %1 est %2, un membre inconnu ici ; il est ignoré, et l’adaptateur agit peut-être autrement que dans PEFT</translation>
    </message>
    <message>
        <source>a byte that is not UTF-8</source>
        <translation>un octet qui n’est pas de l’UTF-8</translation>
    </message>
    <message>
        <source>a control character or line break inside a string</source>
        <translation>un caractère de contrôle ou un saut de ligne dans un texte</translation>
    </message>
    <message>
        <source>a device map is a JSON object, found %1</source>
        <translation>un plan est un objet JSON ; trouvé : %1</translation>
    </message>
    <message>
        <source>a digit</source>
        <translation>un chiffre</translation>
    </message>
    <message>
        <source>a member name in double quotes</source>
        <translation>un nom entre guillemets doubles</translation>
    </message>
    <message>
        <source>a number must not start with 0</source>
        <translation>un nombre ne doit pas commencer par 0</translation>
    </message>
    <message>
        <source>a number of tokens, at least 1</source>
        <translation>un nombre de jetons, au moins 1</translation>
    </message>
    <message>
        <source>a size such as &quot;6GiB&quot;, &quot;1.5GB&quot;, &quot;512MiB&quot; or bytes</source>
        <translation>une taille comme &quot;6GiB&quot;, &quot;1.5GB&quot;, &quot;512MiB&quot; ou des octets</translation>
    </message>
    <message>
        <source>AIFF header: the &apos;COMM&apos; chunk has %1 bytes, at least 18 are needed</source>
        <translation>en-tête AIFF : le bloc &apos;COMM&apos; a %1 octets, il en faut au moins 18</translation>
    </message>
    <message>
        <source>AIFF header: the file ends after %1 bytes without a %2 chunk</source>
        <translation>en-tête AIFF : le fichier finit après %1 octets sans bloc %2</translation>
    </message>
    <message>
        <source>all of this together leaves %1, still %2 too much: %3</source>
        <translation>tout cela ensemble laisse %1, encore %2 de trop : %3</translation>
    </message>
    <message>
        <source>an escape of several digits (\%1)</source>
        <translation>une séquence d’échappement de plusieurs chiffres (\%1)</translation>
    </message>
    <message>
        <source>another tensor of its module is refused</source>
        <translation>un autre tenseur de son module est refusé</translation>
    </message>
    <message>
        <source>asked in %1 s</source>
        <translation>interrogé en %1 s</translation>
    </message>
    <message>
        <source>an integer</source>
        <translation>un nombre entier</translation>
    </message>
    <message>
        <source>at least one member (store, compute, format, residency, ...)</source>
        <translation>au moins un membre (store, compute, format, residency…)</translation>
    </message>
    <message>
        <source>AU header: the file ends after %1 bytes, 24 are needed</source>
        <translation>en-tête AU : le fichier finit après %1 octets, il en faut 24</translation>
    </message>
    <message>
        <source>AU header: the samples should begin at byte %1 of a file of %2</source>
        <translation>en-tête AU : les échantillons devraient commencer à l’octet %1 d’un fichier de %2</translation>
    </message>
    <message>
        <source>audio tower to %1</source>
        <translation>tour audio vers %1</translation>
    </message>
    <message>
        <source>codes of %1 bits</source>
        <translation>des codes de %1 bits</translation>
    </message>
    <message>
        <source>codes of %1 bits, %2</source>
        <translation>des codes de %1 bits, %2</translation>
    </message>
    <message>
        <source>costs only with media: 10 s of sound take about %1 instead of %2</source>
        <translation>ne coûte qu’avec des médias : 10 s de son demandent environ %1 au lieu de %2</translation>
    </message>
    <message>
        <source>costs only with media: an image takes about %1 instead of %2</source>
        <translation>ne coûte qu’avec des médias : une image demande environ %1 au lieu de %2</translation>
    </message>
    <message>
        <source>default</source>
        <translation>« default »</translation>
    </message>
    <message>
        <source>cache</source>
        <translation>cache</translation>
    </message>
    <message>
        <source>chats</source>
        <translation>discussions</translation>
    </message>
    <message>
        <source>compute capability %1</source>
        <translation>capacité de calcul %1</translation>
    </message>
    <message>
        <source>does not start (answer %1)</source>
        <translation>ne démarre pas (réponse %1)</translation>
    </message>
    <message>
        <source>does not tell what is free</source>
        <translation>ne dit pas ce qui est libre</translation>
    </message>
    <message>
        <source>both model.safetensors and model.safetensors.index.json exist; the single file is used</source>
        <translation>model.safetensors et model.safetensors.index.json existent tous deux ; le fichier seul est utilisé</translation>
    </message>
    <message>
        <source>by PEFT %1</source>
        <translation>par PEFT %1</translation>
    </message>
    <message>
        <source>config.json: its quantization_config tells which weights are packed in 4 bits, as the weight files are not there to say so</source>
        <translation>config.json : son quantization_config dit quels poids sont compactés en 4 bits, car les fichiers de poids ne sont pas là pour le dire</translation>
    </message>
    <message>
        <source>compute %1</source>
        <translation>compute %1</translation>
    </message>
    <message>
        <source>default must settle both store and compute: %1 (%2 tensor would have no device)</source>
        <translation>&quot;default&quot; doit fixer store et compute : %1 (%2 tenseur n’aurait pas d’appareil)</translation>
    </message>
    <message>
        <source>default must settle both store and compute: %1 (%2 tensors would have no device)</source>
        <translation>&quot;default&quot; doit fixer store et compute : %1 (%2 tenseurs n’auraient pas d’appareil)</translation>
    </message>
    <message>
        <source>DoRA, which PEFT does not have for expert parameters</source>
        <translation>DoRA, que PEFT n’a pas pour les paramètres d’experts</translation>
    </message>
    <message>
        <source>even this leanest plan is %1 over the limits; it keeps layers in memory: on disk, read anew for every token, only a map puts them</source>
        <translation>même cette répartition, la plus économe, dépasse les limites de %1 ; elle garde les couches en mémoire : seul un plan à soi les met sur disque, où elles sont relues pour chaque jeton</translation>
    </message>
    <message>
        <source>every token reads them</source>
        <translation>chaque jeton les lit</translation>
    </message>
    <message>
        <source>every token reads them, about %1 more per token</source>
        <translation>chaque jeton les lit, environ %1 de plus par jeton</translation>
    </message>
    <message>
        <source>everything on %1 needs %2 of %3: it fits</source>
        <translation>tout sur %1 demande %2 sur %3 : cela tient</translation>
    </message>
    <message>
        <source>everything on %1 needs %2 of %3: more than this computer&apos;s memory, which simulated GPUs take theirs from</source>
        <translation>tout sur %1 demande %2 sur %3 : plus que la mémoire de cet ordinateur, où les GPU simulés prennent la leur</translation>
    </message>
    <message>
        <source>everything on %1 needs %2 of %3: too much</source>
        <translation>tout sur %1 demande %2 sur %3 : c’est trop</translation>
    </message>
    <message>
        <source>driver</source>
        <translation>pilote</translation>
    </message>
    <message>
        <source>expected: %1</source>
        <translation>attendu : %1</translation>
    </message>
    <message>
        <source>ends with a sliding layer; the last layer is always full</source>
        <translation>finit par une couche à fenêtre glissante ; la dernière couche est toujours complète</translation>
    </message>
    <message>
        <source>equals the base&apos;s own table</source>
        <translation>est égale à la table de la base</translation>
    </message>
    <message>
        <source>error: %1</source>
        <translation>erreur : %1</translation>
    </message>
    <message>
        <source>exclude_modules leaves the module out</source>
        <translation>exclude_modules exclut le module</translation>
    </message>
    <message>
        <source>fan_in_fan_out is true; it has no meaning for linear layers and was reset</source>
        <translation>fan_in_fan_out est true ; cela n’a pas de sens pour les couches linéaires et a été remis à false</translation>
    </message>
    <message>
        <source>expanded from %1 to %2: values stay those of the 4-bit weights, only memory grows (%3)</source>
        <translation>étendu de %1 à %2 : les valeurs restent celles des poids de 4 bits, seule la mémoire augmente (%3)</translation>
    </message>
    <message>
        <source>FLAC header: the file ends after %1 bytes, inside the stream information</source>
        <translation>en-tête FLAC : le fichier finit après %1 octets, à l’intérieur des informations du flux</translation>
    </message>
    <message>
        <source>FLAC header: the first block is not a stream information of 34 bytes</source>
        <translation>en-tête FLAC : le premier bloc n’est pas une information de flux de 34 octets</translation>
    </message>
    <message>
        <source>finite scales below 2^125</source>
        <translation>des échelles finies inférieures à 2^125</translation>
    </message>
    <message>
        <source>groups in the order of the columns, without actorder</source>
        <translation>des groupes dans l&apos;ordre des colonnes, sans actorder</translation>
    </message>
    <message>
        <source>groups of %1</source>
        <translation>des groupes de %1</translation>
    </message>
    <message>
        <source>groups of %1, %2</source>
        <translation>des groupes de %1, %2</translation>
    </message>
    <message>
        <source>head in %1</source>
        <translation>tête en %1</translation>
    </message>
    <message>
        <source>head in int8</source>
        <translation>tête en 8 bits</translation>
    </message>
    <message>
        <source>head to %1</source>
        <translation>tête vers %1</translation>
    </message>
    <message>
        <source>for %1</source>
        <translation>pour %1</translation>
    </message>
    <message>
        <source>Free disk</source>
        <translation>Espace disque libre</translation>
    </message>
    <message>
        <source>Graphics cards</source>
        <translation>Cartes graphiques</translation>
    </message>
    <message>
        <source>has not answered for %1 s</source>
        <translation>ne répond pas depuis %1 s</translation>
    </message>
    <message>
        <source>has no members per layer type; it is taken for the full-attention layers</source>
        <translation>n’a pas de membres par type de couche ; il vaut pour les couches à attention complète</translation>
    </message>
    <message>
        <source>format %1 is not possible: %2 (%3)</source>
        <translation>le format %1 n’est pas possible : %2 (%3)</translation>
    </message>
    <message>
        <source>four hexadecimal digits after \u</source>
        <translation>quatre chiffres hexadécimaux après \u</translation>
    </message>
    <message>
        <source>half of a surrogate pair</source>
        <translation>la moitié d’une paire de substitution</translation>
    </message>
    <message>
        <source>I8 %1</source>
        <translation>I8 %1</translation>
    </message>
    <message>
        <source>ignored: %1</source>
        <translation>laissé de côté : %1</translation>
    </message>
    <message>
        <source>in its folder: %1</source>
        <translation>dans son dossier : %1</translation>
    </message>
    <message>
        <source>in its folder: %1 (whether the adapter needs further tokens is not known)</source>
        <translation>dans son dossier : %1 (on ne sait pas si l’adaptateur a besoin d’autres tokens)</translation>
    </message>
    <message>
        <source>inert: %1</source>
        <translation>sans effet : %1</translation>
    </message>
    <message>
        <source>init_lora_weights is &quot;%1&quot;: accepted on request, right only on the changed base</source>
        <translation>init_lora_weights est &quot;%1&quot; : accepté sur demande, juste seulement sur la base changée</translation>
    </message>
    <message>
        <source>int8 per row (head) does not exist there</source>
        <translation>l’int8 par ligne (tête) n’y existe pas</translation>
    </message>
    <message>
        <source>is %1, expected %2: of what compressed-tensors writes, W4A16 can be read (pack-quantized, 4 bits, symmetric, groups of 32). Use a W4A16 model of that form or the 16-bit one</source>
        <translation>est %1, attendu %2 : de ce que compressed-tensors écrit, W4A16 peut être lu (pack-quantized, 4 bits, symétrique, groupes de 32). Prenez un modèle W4A16 de cette forme ou celui en 16 bits</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; only checkpoints of bitsandbytes (NF4, FP4) and compressed-tensors (W4A16) and unquantized ones can be read</source>
        <translation>est &quot;%1&quot; ; seuls les checkpoints de bitsandbytes (NF4, FP4) et de compressed-tensors (W4A16) et ceux non quantifiés peuvent être lus</translation>
    </message>
    <message>
        <source>is missing: the weights are read as they are stored</source>
        <translation>manque : les poids sont lus tels qu&apos;ils sont enregistrés</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>absent</translation>
    </message>
    <message>
        <source>rows of %1</source>
        <translation>des lignes de %1</translation>
    </message>
    <message>
        <source>rows of a multiple of %1 values</source>
        <translation>des lignes dont la longueur est un multiple de %1</translation>
    </message>
    <message>
        <source>scales of groups alone, none for channels beside them</source>
        <translation>des échelles de groupes seulement, aucune pour des canaux à côté</translation>
    </message>
    <message>
        <source>scales of groups alone, none for the whole tensor as in NVFP4</source>
        <translation>des échelles de groupes seulement, aucune pour le tenseur entier comme en NVFP4</translation>
    </message>
    <message>
        <source>symmetric codes, without zero points</source>
        <translation>des codes symétriques, sans points zéro</translation>
    </message>
    <message>
        <source>weights in %1 do not exist there</source>
        <translation>les poids en %1 n’y existent pas</translation>
    </message>
    <message>
        <source>it is read whole for every token</source>
        <translation>elle est lue en entier pour chaque jeton</translation>
    </message>
    <message>
        <source>it is read whole for every token, about %1 more per token</source>
        <translation>elle est lue en entier pour chaque jeton, environ %1 de plus par jeton</translation>
    </message>
    <message>
        <source>it cannot be opened</source>
        <translation>elle ne peut pas être ouverte</translation>
    </message>
    <message>
        <source>it cannot be read</source>
        <translation>elle ne peut pas être lue</translation>
    </message>
    <message>
        <source>it is cut short</source>
        <translation>elle est tronquée</translation>
    </message>
    <message>
        <source>it is cut short or damaged</source>
        <translation>elle est tronquée ou endommagée</translation>
    </message>
    <message>
        <source>it is of another version or model</source>
        <translation>elle est d’une autre version ou d’un autre modèle</translation>
    </message>
    <message>
        <source>its directory is damaged</source>
        <translation>son répertoire est endommagé</translation>
    </message>
    <message>
        <source>is %1, which cannot be used there; it is left out</source>
        <translation>est %1, ce qui ne peut pas servir là ; il est laissé de côté</translation>
    </message>
    <message>
        <source>is %1; this is not run here, so that replies can differ from those of transformers</source>
        <translation>est %1 ; cela n’est pas exécuté ici, si bien que les réponses peuvent différer de celles de transformers</translation>
    </message>
    <message>
        <source>is false; pictures are resized all the same</source>
        <translation>est false ; les images sont redimensionnées quand même</translation>
    </message>
    <message>
        <source>is missing; taken as %1</source>
        <translation>manque ; est pris pour %1</translation>
    </message>
    <message>
        <source>is not &quot;right&quot;; recordings are padded on the right</source>
        <translation>n’est pas &quot;right&quot; ; les enregistrements sont complétés à droite</translation>
    </message>
    <message>
        <source>is out of its range; it is taken as %1</source>
        <translation>est hors de son domaine ; il est pris pour %1</translation>
    </message>
    <message>
        <source>its tower was left out of this load (text only)</source>
        <translation>sa tour a été laissée de côté lors de ce chargement (texte seul)</translation>
    </message>
    <message>
        <source>it names neither store nor compute</source>
        <translation>il ne nomme ni store ni compute</translation>
    </message>
    <message>
        <source>it names no compute device</source>
        <translation>il ne nomme pas ce qui calcule</translation>
    </message>
    <message>
        <source>it names no store</source>
        <translation>il ne nomme pas ce qui stocke</translation>
    </message>
    <message>
        <source>JPEG data is damaged: %1</source>
        <translation>les données JPEG sont endommagées : %1</translation>
    </message>
    <message>
        <source>JPEG data is incomplete: it ends before the last of its %1 rows</source>
        <translation>les données JPEG sont incomplètes : elles finissent avant la dernière de ses %1 lignes</translation>
    </message>
    <message>
        <source>JPEG data is truncated: the file ends after %1 bytes, before the picture is complete</source>
        <translation>les données JPEG sont tronquées : le fichier finit après %1 octets, avant que l’image soit complète</translation>
    </message>
    <message>
        <source>JPEG header: a segment declares %1 bytes, less than its own length field</source>
        <translation>en-tête JPEG : un segment déclare %1 octets, moins que son propre champ de longueur</translation>
    </message>
    <message>
        <source>JPEG header: it describes two different pictures</source>
        <translation>en-tête JPEG : il décrit deux images différentes</translation>
    </message>
    <message>
        <source>JPEG header: the file ends after %1 bytes, before the frame header</source>
        <translation>en-tête JPEG : le fichier finit après %1 octets, avant l’en-tête de trame</translation>
    </message>
    <message>
        <source>JPEG header: the frame header is too short</source>
        <translation>en-tête JPEG : l’en-tête de trame est trop court</translation>
    </message>
    <message>
        <source>JPEG header: the picture data starts before any frame header</source>
        <translation>en-tête JPEG : les données de l’image commencent avant tout en-tête de trame</translation>
    </message>
    <message>
        <source>KaSA truncates the base weight and adds a diagonal, which is not implemented</source>
        <translation>KaSA tronque le poids de base et ajoute une diagonale, ce qui n’existe pas ici</translation>
    </message>
    <message>
        <source>layer %1 shares the KV of layer %2</source>
        <translation>la couche %1 utilise les clés et valeurs de la couche %2</translation>
    </message>
    <message>
        <source>layer %1 takes its values from %2</source>
        <translation>la couche %1 prend ses valeurs de %2</translation>
    </message>
    <message>
        <source>layers_to_transform leaves the layer out</source>
        <translation>layers_to_transform exclut la couche</translation>
    </message>
    <message>
        <source>made for %1, loaded on %2</source>
        <translation>fait pour %1, chargé sur %2</translation>
    </message>
    <message>
        <source>keys translated to our names: %1</source>
        <translation>clés traduites dans nos noms : %1</translation>
    </message>
    <message>
        <source>keys without effect (no tensors that are used lie there): %1</source>
        <translation>clés sans effet (aucun tenseur utilisé ne s’y trouve) : %1</translation>
    </message>
    <message>
        <source>layers %1-%2 on %3, one block, so that the state changes device once</source>
        <translation>couches %1 à %2 sur %3, d’un bloc, pour que l’état ne change d’appareil qu’une fois</translation>
    </message>
    <message>
        <source>linear weights in %1</source>
        <translation>poids linéaires en %1</translation>
    </message>
    <message>
        <source>linear weights stay as they are stored, because no --quant was given; with --quant %1 it would be about %2 tokens/s</source>
        <translation>les poids linéaires restent tels qu’ils sont stockés, car --quant n’est pas donné ; avec --quant %1, ce serait environ %2 jetons/s</translation>
    </message>
    <message>
        <source>lm_head and embed_tokens are one tensor in the checkpoint; the map puts them on different devices, so there are two copies</source>
        <translation>lm_head et embed_tokens sont un seul tenseur dans le checkpoint ; le plan les met sur des appareils différents, il y a donc deux copies</translation>
    </message>
    <message>
        <source>more than %1 pairs of keys contradict each other; only the first are listed</source>
        <translation>plus de %1 paires de clés se contredisent ; seules les premières sont listées</translation>
    </message>
    <message>
        <source>kernels</source>
        <translation>noyaux</translation>
    </message>
    <message>
        <source>Libraries</source>
        <translation>Bibliothèques</translation>
    </message>
    <message>
        <source>loaded</source>
        <translation>chargée</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>mesuré</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>mémoire</translation>
    </message>
    <message>
        <source>models</source>
        <translation>modèles</translation>
    </message>
    <message>
        <source>layer %1 computes on %2: %3 bytes travel per token inside it; keeping a layer&apos;s weights together avoids that</source>
        <translation>la couche %1 calcule sur %2 : %3 octets circulent par jeton à l’intérieur ; garder ensemble les poids d’une couche l’évite</translation>
    </message>
    <message>
        <source>layer %1 on %2 reads keys and values kept on %3: %4 bytes per token travel for it</source>
        <translation>la couche %1 sur %2 lit des clés et valeurs gardées sur %3 : %4 octets circulent pour cela par jeton</translation>
    </message>
    <message>
        <source>layer %1 on %2 reads the keys and values of layer %3 on %4: %5 bytes per token go to a mirror there</source>
        <translation>la couche %1 sur %2 lit les clés et valeurs de la couche %3 sur %4 : %5 octets par jeton vont dans un miroir là-bas</translation>
    </message>
    <message>
        <source>layers %1 compute on %2: %3 bytes travel per token inside them; keeping a layer&apos;s weights together avoids that</source>
        <translation>les couches %1 calculent sur %2 : %3 octets circulent par jeton à l’intérieur ; garder ensemble les poids d’une couche l’évite</translation>
    </message>
    <message>
        <source>layers %1 on %2 read keys and values kept on %3: %4 bytes per token travel for it</source>
        <translation>les couches %1 sur %2 lisent des clés et valeurs gardées sur %3 : %4 octets circulent pour cela par jeton</translation>
    </message>
    <message>
        <source>layers %1 on %2 read the keys and values of layer %3 on %4: %5 bytes per token go to a mirror there</source>
        <translation>les couches %1 sur %2 lisent les clés et valeurs de la couche %3 sur %4 : %5 octets par jeton vont dans un miroir là-bas</translation>
    </message>
    <message>
        <source>MP3 file is truncated: it ends after %1 bytes of sound, inside the first frame</source>
        <translation>le fichier MP3 est tronqué : il finit après %1 octets de son, à l’intérieur de la première trame</translation>
    </message>
    <message>
        <source>MP3 file is truncated: it ends inside its ID3 tag of %1 bytes</source>
        <translation>le fichier MP3 est tronqué : il finit à l’intérieur de son étiquette ID3 de %1 octets</translation>
    </message>
    <message>
        <source>MonteCLoRA is not implemented</source>
        <translation>MonteCLoRA n’existe pas ici</translation>
    </message>
    <message>
        <source>No NVIDIA driver on this machine (%1 was not found); everything runs on the CPU.</source>
        <translation>Cet ordinateur n’a pas de pilote NVIDIA (%1 est introuvable) ; tout s’exécute sur le processeur.</translation>
    </message>
    <message>
        <source>not in the files, planned as bf16: %1</source>
        <translation>absent des fichiers, prévu en bf16 : %1</translation>
    </message>
    <message>
        <source>none in this build: no card is used</source>
        <translation>aucun dans cette version : aucune carte n’est utilisée</translation>
    </message>
    <message>
        <source>not asked</source>
        <translation>non interrogée</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>introuvable</translation>
    </message>
    <message>
        <source>not known (%1)</source>
        <translation>inconnu (%1)</translation>
    </message>
    <message>
        <source>not loaded: %1 (%2)</source>
        <translation>non chargé : %1 (%2)</translation>
    </message>
    <message>
        <source>not used</source>
        <translation>non utilisée</translation>
    </message>
    <message>
        <source>not used: %1 (no module of this architecture)</source>
        <translation>non utilisé : %1 (aucun module de cette architecture)</translation>
    </message>
    <message>
        <source>not yet: the first plan does</source>
        <translation>pas encore : le premier plan d’un modèle le fera</translation>
    </message>
    <message>
        <source>note</source>
        <translation>remarque</translation>
    </message>
    <message>
        <source>no marks of turns</source>
        <translation>aucune marque de tour</translation>
    </message>
    <message>
        <source>no key gives a device to %1; add a key, or &quot;&quot; for everything else</source>
        <translation>aucune clé ne donne d’appareil à %1 ; ajoutez une clé, ou &quot;&quot; pour tout le reste</translation>
    </message>
    <message>
        <source>Ogg file is truncated: the page at byte 0 is longer than the %1 bytes that are left</source>
        <translation>le fichier Ogg est tronqué : la page à l’octet 0 est plus longue que les %1 octets qui restent</translation>
    </message>
    <message>
        <source>Ogg header: the file ends after %1 bytes, inside the first page</source>
        <translation>en-tête Ogg : le fichier finit après %1 octets, à l’intérieur de la première page</translation>
    </message>
    <message>
        <source>one row of %1 per token, not measurable</source>
        <translation>une ligne de %1 par jeton, non mesurable</translation>
    </message>
    <message>
        <source>per-layer embedding table to %1</source>
        <translation>table des plongements par couche vers %1</translation>
    </message>
    <message>
        <source>part of the program</source>
        <translation>intégrée au programme</translation>
    </message>
    <message>
        <source>only linear weights, experts, embedding tables and the head can have it</source>
        <translation>seuls les poids linéaires, les experts, les tables de plongements et la tête peuvent l’avoir</translation>
    </message>
    <message>
        <source>PNG data is damaged: %1 (at byte %2 of %3)</source>
        <translation>les données PNG sont endommagées : %1 (à l’octet %2 sur %3)</translation>
    </message>
    <message>
        <source>PNG header: colour type %1 with %2 bits does not exist</source>
        <translation>en-tête PNG : le type de couleur %1 avec %2 bits n’existe pas</translation>
    </message>
    <message>
        <source>PNG header: its checksum (CRC) does not match, the file is damaged</source>
        <translation>en-tête PNG : sa somme de contrôle (CRC) ne correspond pas, le fichier est endommagé</translation>
    </message>
    <message>
        <source>PNG header: the file ends after %1 bytes, the header alone has 33</source>
        <translation>en-tête PNG : le fichier finit après %1 octets, l’en-tête seul en a 33</translation>
    </message>
    <message>
        <source>PNG header: the first chunk is not an IHDR of 13 bytes</source>
        <translation>en-tête PNG : le premier bloc n’est pas un IHDR de 13 octets</translation>
    </message>
    <message>
        <source>PNG header: unknown compression, filter or interlace method</source>
        <translation>en-tête PNG : méthode de compression, de filtre ou d’entrelacement inconnue</translation>
    </message>
    <message>
        <source>problem</source>
        <translation>problème</translation>
    </message>
    <message>
        <source>processor</source>
        <translation>processeur</translation>
    </message>
    <message>
        <source>Processor and memory</source>
        <translation>Processeur et mémoire</translation>
    </message>
    <message>
        <source>QALoRA pools the input of A, which is not implemented</source>
        <translation>QALoRA regroupe l’entrée de A, ce qui n’existe pas ici</translation>
    </message>
    <message>
        <source>runtime_config is ignored, as PEFT does</source>
        <translation>runtime_config est ignoré, comme le fait PEFT</translation>
    </message>
    <message>
        <source>reads %1 GB/s, products %2 %3</source>
        <translation>lit %1 Go/s, produits matriciels %2 %3</translation>
    </message>
    <message>
        <source>residency given by %1 has no effect where store and compute are the same device (%2)</source>
        <translation>residency donné par %1 est sans effet là où store et compute sont le même appareil (%2)</translation>
    </message>
    <message>
        <source>SCB as F32 [%1]</source>
        <translation>SCB en F32 [%1]</translation>
    </message>
    <message>
        <source>simulated GPUs exist only in Belfry</source>
        <translation>les GPU simulés n’existent que dans Belfry</translation>
    </message>
    <message>
        <source>some accuracy for speed, before what every token reads leaves</source>
        <translation>un peu de précision contre de la vitesse, avant que parte ce que chaque jeton lit</translation>
    </message>
    <message>
        <source>some accuracy for speed, before what every token reads leaves; --head bf16 keeps the head as it is stored</source>
        <translation>un peu de précision contre de la vitesse, avant que parte ce que chaque jeton lit ; --head bf16 garde la tête telle qu’elle est stockée</translation>
    </message>
    <message>
        <source>speeds are estimates from rates measured on this computer: memory is read with %1 GB/s, products run at %2 GFLOP/s</source>
        <translation>les vitesses sont estimées d’après des débits mesurés sur cet ordinateur : la mémoire est lue à %1 Go/s, les produits tournent à %2 GFLOP/s</translation>
    </message>
    <message>
        <source>Speex speech</source>
        <translation>de la parole Speex</translation>
    </message>
    <message>
        <source>store %1</source>
        <translation>store %1</translation>
    </message>
    <message>
        <source>store %1, compute %2</source>
        <translation>store %1, compute %2</translation>
    </message>
    <message>
        <source>stored on %1 but computed on %2: store comes from %3 and so does compute; what is stored on a GPU is computed there (%4)</source>
        <translation>stocké sur %1 mais calculé sur %2 : les deux sont donnés par %3 ; ce qui est stocké sur un GPU y est calculé (%4)</translation>
    </message>
    <message>
        <source>stored on %1 but computed on %2: store comes from %3, compute from %4; what is stored on a GPU is computed there (%5)</source>
        <translation>stocké sur %1 mais calculé sur %2 : store est donné par %3, compute par %4 ; ce qui est stocké sur un GPU y est calculé (%5)</translation>
    </message>
    <message>
        <source>stored on %1, computed on %2, format %3 (by %4)</source>
        <translation>stocké sur %1, calculé sur %2, format %3 (par %4)</translation>
    </message>
    <message>
        <source>Switch the adapter off or give it a smaller strength; if that does not help, take another checkpoint</source>
        <translation>Désactivez l’adaptateur ou donnez-lui une force plus petite ; si cela n’aide pas, prenez un autre checkpoint</translation>
    </message>
    <message>
        <source>target_modules does not target the module</source>
        <translation>target_modules ne vise pas le module</translation>
    </message>
    <message>
        <source>target_parameters does not name an expert parameter for this key</source>
        <translation>target_parameters ne nomme aucun paramètre d’experts pour cette clé</translation>
    </message>
    <message>
        <source>the adapter replaces %1 weights that travel to their device; their replacements stay there (only A and B follow)</source>
        <translation>l’adaptateur remplace %1 poids qui voyagent vers leur appareil ; leurs remplaçants y restent (seuls A et B suivent)</translation>
    </message>
    <message>
        <source>the adapter replaces 1 weight that travels to its device; its replacement stays there (only A and B follow)</source>
        <translation>l’adaptateur remplace 1 poids qui voyage vers son appareil ; son remplaçant y reste (seuls A et B suivent)</translation>
    </message>
    <message>
        <source>system</source>
        <translation>système</translation>
    </message>
    <message>
        <source>tells no version</source>
        <translation>n’indique pas de version</translation>
    </message>
    <message>
        <source>the %1 recording declares %2 bytes of sound and has %3: it was cut short or written without knowing its length; what is there is played</source>
        <translation>l’enregistrement %1 annonce %2 octets de son et en a %3 : il a été coupé, ou écrit sans que sa durée soit connue ; ce qui est là est lu</translation>
    </message>
    <message>
        <source>the %1 recording declares %2 seconds and has %3: it was cut short or is damaged behind; what is there is played</source>
        <translation>l’enregistrement %1 annonce %2 secondes et en a %3 : il a été coupé, ou est endommagé ensuite ; ce qui est là est lu</translation>
    </message>
    <message>
        <source>the checkpoint holds %1 values</source>
        <translation>le checkpoint contient des valeurs %1</translation>
    </message>
    <message>
        <source>the checkpoint holds it packed as %1; a key that names exactly this tensor may ask for its expansion</source>
        <translation>le checkpoint le contient compacté en %1 ; une clé qui nomme exactement ce tenseur peut demander qu’il soit étendu</translation>
    </message>
    <message>
        <source>the checkpoint holds it packed as %1; use that, as_stored, or the unquantized checkpoint</source>
        <translation>le checkpoint le contient compacté en %1 ; prenez cela, as_stored ou le checkpoint non quantifié</translation>
    </message>
    <message>
        <source>The checkpoint is damaged or its training had diverged: download it again, or take another one</source>
        <translation>Le checkpoint est endommagé ou son entraînement avait divergé : téléchargez-le à nouveau, ou prenez-en un autre</translation>
    </message>
    <message>
        <source>The driver gives no card to this process any more: loading again cannot work. Start the program again, or go on with everything on the CPU (device map &quot;cpu&quot;).</source>
        <translation>Le pilote ne donne plus de carte à ce programme : recharger ne peut pas réussir. Redémarrez le programme, ou continuez avec tout sur le CPU (plan d’appareils &quot;cpu&quot;).</translation>
    </message>
    <message>
        <source>the experts&apos; factors have the shapes of PEFT 0.19.1 and later although the file was written %1; the shapes count</source>
        <translation>les facteurs des experts ont les formes de PEFT 0.19.1 et plus, bien que le fichier ait été écrit %1 ; les formes comptent</translation>
    </message>
    <message>
        <source>the experts&apos; factors stand transposed, as PEFT before 0.19.1 stored them (the file was written %1); they are turned round</source>
        <translation>les facteurs des experts sont transposés, comme PEFT les stockait avant 0.19.1 (le fichier a été écrit %1) ; ils sont retournés</translation>
    </message>
    <message>
        <source>the key names no module</source>
        <translation>la clé ne nomme aucun module</translation>
    </message>
    <message>
        <source>the model&apos;s folder has no chat template, so that no chat prompt can be written; use a raw prompt</source>
        <translation>le dossier du modèle n’a pas de modèle de conversation, si bien qu’aucune invite de conversation ne peut être écrite ; prenez une invite brute</translation>
    </message>
    <message>
        <source>the model does not use %1</source>
        <translation>le modèle n’utilise pas %1</translation>
    </message>
    <message>
        <source>the model has no audio tower</source>
        <translation>le modèle n’a pas de tour audio</translation>
    </message>
    <message>
        <source>the model has no module %1</source>
        <translation>le modèle n’a pas de module %1</translation>
    </message>
    <message>
        <source>the model has no vision tower</source>
        <translation>le modèle n’a pas de tour de vision</translation>
    </message>
    <message>
        <source>the model has only %1 layers</source>
        <translation>le modèle n’a que %1 couches</translation>
    </message>
    <message>
        <source>the module has a low-rank update; its own weight would be called base_layer.weight</source>
        <translation>le module a une mise à jour de rang faible ; son propre poids s’appellerait base_layer.weight</translation>
    </message>
    <message>
        <source>the module has no parameter %1</source>
        <translation>le module n’a pas de paramètre %1</translation>
    </message>
    <message>
        <source>the module is in modules_to_save, which replaces it whole</source>
        <translation>le module est dans modules_to_save, qui le remplace en entier</translation>
    </message>
    <message>
        <source>the model asks for the tool %1 with %2, which nothing here runs</source>
        <translation>le modèle demande l’outil %1 avec %2, qui n’est pas exécuté ici</translation>
    </message>
    <message>
        <source>The model files hold other values than when the weight cache was made, in %1 of %2 weights (first %3): these are made again.</source>
        <translation>Les fichiers du modèle contiennent d’autres valeurs que lors de l’écriture de la copie quantifiée, dans %1 poids sur %2 (le premier : %3) : ceux-ci sont refaits.</translation>
    </message>
    <message>
        <source>the Ogg recording ends inside a page: it was cut short; what is there is played</source>
        <translation>l’enregistrement Ogg se termine au milieu d’une page : il a été coupé ; ce qui est là est lu</translation>
    </message>
    <message>
        <source>the end of the text</source>
        <translation>la fin du texte</translation>
    </message>
    <message>
        <source>the key %1</source>
        <translation>la clé %1</translation>
    </message>
    <message>
        <source>the key %1 has a bracket that is not a range: one component of the form [a-b] with a &lt;= b and no leading zeros is allowed</source>
        <translation>la clé %1 a un crochet qui n’est pas un intervalle : une partie de la forme [a-b] avec a &lt;= b, sans zéros en tête, est permise</translation>
    </message>
    <message>
        <source>the key %1 stands for the whole model; use &quot;default&quot; for that</source>
        <translation>la clé %1 désigne tout le modèle ; utilisez &quot;default&quot; pour cela</translation>
    </message>
    <message>
        <source>the key %1 stands twice in one object</source>
        <translation>la clé %1 figure deux fois dans un objet</translation>
    </message>
    <message>
        <source>the keys %1 and %2 both mean %3 but set %4 to different values (%5 against %6); a single number does not beat a range: keep one</source>
        <translation>les clés %1 et %2 désignent toutes deux %3 mais donnent à %4 des valeurs différentes (%5 contre %6) ; un numéro seul ne l’emporte pas sur un intervalle : gardez-en une</translation>
    </message>
    <message>
        <source>the load options</source>
        <translation>les options de chargement</translation>
    </message>
    <message>
        <source>The NVIDIA driver crashed when it was asked for its graphics cards (%1: %2). Restart the machine, and install the driver again if that does not help. Everything runs on the CPU until Belfry is started again.</source>
        <translation>Le pilote NVIDIA s’est arrêté brutalement quand on lui a demandé ses cartes graphiques (%1 : %2). Redémarrez l’ordinateur, puis réinstallez le pilote si cela ne suffit pas. Tout s’exécute sur le processeur jusqu’au prochain démarrage de Belfry.</translation>
    </message>
    <message>
        <source>The NVIDIA driver did not tell its graphics cards within %1 s (%2; a machine with many cards may need longer: BELFRY_CARD_SECONDS). Restart the machine, and install the driver again if that does not help. Everything runs on the CPU until Belfry is started again.</source>
        <translation>Le pilote NVIDIA n’a pas indiqué ses cartes graphiques en %1 s (%2 ; un ordinateur avec beaucoup de cartes peut demander plus de temps : BELFRY_CARD_SECONDS). Redémarrez l’ordinateur, puis réinstallez le pilote si cela ne suffit pas. Tout s’exécute sur le processeur jusqu’au prochain démarrage de Belfry.</translation>
    </message>
    <message>
        <source>The NVIDIA driver does not start (%1); restart the machine or reinstall the driver to use the graphics card. Everything runs on the CPU.</source>
        <translation>Le pilote NVIDIA ne démarre pas (%1) ; redémarrez l’ordinateur ou réinstallez le pilote pour utiliser la carte graphique. Tout s’exécute sur le processeur.</translation>
    </message>
    <message>
        <source>The NVIDIA driver lacks the function %1; update the driver to use the graphics card. Everything runs on the CPU.</source>
        <translation>Il manque au pilote NVIDIA la fonction %1 ; mettez le pilote à jour pour utiliser la carte graphique. Tout s’exécute sur le processeur.</translation>
    </message>
    <message>
        <source>The NVIDIA driver sees no graphics card; everything runs on the CPU.</source>
        <translation>Le pilote NVIDIA ne voit aucune carte graphique ; tout s’exécute sur le processeur.</translation>
    </message>
    <message>
        <source>The NVIDIA driver supports CUDA %1, Belfry needs %2 or newer; update the driver to use the graphics card. Everything runs on the CPU.</source>
        <translation>Le pilote NVIDIA prend en charge CUDA %1, Belfry demande %2 ou plus récent ; mettez le pilote à jour pour utiliser la carte graphique. Tout s’exécute sur le processeur.</translation>
    </message>
    <message>
        <source>the map was made for a model with %1 layers, this one has %2</source>
        <translation>le plan a été fait pour un modèle de %1 couches, celui-ci en a %2</translation>
    </message>
    <message>
        <source>the map was made for the architecture &quot;%1&quot;, this model is gemma4 (%2)</source>
        <translation>le plan a été fait pour l’architecture « %1 », ce modèle est gemma4 (%2)</translation>
    </message>
    <message>
        <source>the member &quot;default&quot; is missing; it says where everything goes that no key names, for example &quot;default&quot;: &quot;cuda:0&quot;</source>
        <translation>le membre &quot;default&quot; manque. Il dit où va tout ce qu’aucune clé ne nomme, par exemple &quot;default&quot;: &quot;cuda:0&quot;</translation>
    </message>
    <message>
        <source>the memory of a simulated GPU is this computer&apos;s main memory: %1 need %2 (%3 bytes) of it together but may use %4 (%5 bytes), %6 too much (%7). The largest parts: %8</source>
        <translation>la mémoire d’un GPU simulé est la mémoire principale de cet ordinateur : %1 en demandent %2 (%3 octets) ensemble mais peuvent utiliser %4 (%5 octets), soit %6 de trop (%7). Les plus grandes parties : %8</translation>
    </message>
    <message>
        <source>the number %1</source>
        <translation>le nombre %1</translation>
    </message>
    <message>
        <source>the pattern &quot;%1&quot; takes too much work on the module %2 (%3); write it with fewer repeats, or name the modules in a list</source>
        <translation>le motif &quot;%1&quot; demande trop de travail pour le module %2 (%3) ; écrivez-le avec moins de répétitions, ou nommez les modules dans une liste</translation>
    </message>
    <message>
        <source>the pattern &quot;%1&quot; uses what is not implemented: %2; write it without that, or name the modules in a list</source>
        <translation>le motif &quot;%1&quot; utilise ce qui n’existe pas ici : %2 ; écrivez-le sans cela, ou nommez les modules dans une liste</translation>
    </message>
    <message>
        <source>the patterns of this file take more than %1 MiB of memory together, and &quot;%2&quot; is one too many; write them with fewer counted repeats</source>
        <translation>les motifs de ce fichier prennent ensemble plus de %1 Mio de mémoire, et &quot;%2&quot; est de trop ; écrivez-les avec moins de répétitions comptées</translation>
    </message>
    <message>
        <source>the picture has a flaw (%1) and may look wrong</source>
        <translation>l’image a un défaut (%1) et peut paraître fausse</translation>
    </message>
    <message>
        <source>The plan does not say where %1 goes.</source>
        <translation>Le plan ne dit pas où va %1.</translation>
    </message>
    <message>
        <source>The plan lists %1 twice.</source>
        <translation>Le plan nomme %1 deux fois.</translation>
    </message>
    <message>
        <source>The plan lists %1, which this model does not have.</source>
        <translation>Le plan nomme %1, que ce modèle n’a pas.</translation>
    </message>
    <message>
        <source>this plan does not fit: %1</source>
        <translation>ce plan ne tient pas : %1</translation>
    </message>
    <message>
        <source>the server ended the reply: %1</source>
        <translation>le serveur a terminé la réponse : %1</translation>
    </message>
    <message>
        <source>the system gives this program %1, it has %2</source>
        <translation>le système accorde %1 à ce programme, qui en occupe %2</translation>
    </message>
    <message>
        <source>The weight cache %1 is not used and will be made again: %2.</source>
        <translation>La copie quantifiée %1 n’est pas utilisée et sera refaite : %2.</translation>
    </message>
    <message>
        <source>The weight cache was damaged and is written anew.</source>
        <translation>La copie quantifiée était endommagée et est réécrite.</translation>
    </message>
    <message>
        <source>The weight cache was damaged while in use: %1 weights are made from the model files (%2 the last), which is slower. Load the model again to have the cache written anew.</source>
        <translation>Une copie quantifiée a été endommagée pendant l’usage : %1 poids sont faits à partir des fichiers du modèle (%2 en dernier), ce qui est plus lent. Rechargez le modèle pour que la copie soit réécrite.</translation>
    </message>
    <message>
        <source>The weight cache was damaged while in use: 1 weight is made from the model files (%1), which is slower. Load the model again to have the cache written anew.</source>
        <translation>Une copie quantifiée a été endommagée pendant l’usage : 1 poids est fait à partir des fichiers du modèle (%1), ce qui est plus lent. Rechargez le modèle pour que la copie soit réécrite.</translation>
    </message>
    <message>
        <source>The weight cache was damaged: %1 and %2 other weights were made again from the model files. The cache is written anew.</source>
        <translation>La copie quantifiée était endommagée : %1 et %2 autres poids ont été refaits à partir des fichiers du modèle. La copie est réécrite.</translation>
    </message>
    <message>
        <source>The weight cache was damaged: %1 and one other weight were made again from the model files. The cache is written anew.</source>
        <translation>La copie quantifiée était endommagée : %1 et un autre poids ont été refaits à partir des fichiers du modèle. La copie est réécrite.</translation>
    </message>
    <message>
        <source>The weight cache was damaged: %1 was made again from the model files. The cache is written anew.</source>
        <translation>La copie quantifiée était endommagée : %1 a été refait à partir des fichiers du modèle. La copie est réécrite.</translation>
    </message>
    <message>
        <source>The weight cache was not written: %1</source>
        <translation>La copie quantifiée n’a pas été écrite : %1</translation>
    </message>
    <message>
        <source>tokenizer.json is not in the folder: planning works, loading does not</source>
        <translation>tokenizer.json manque dans le dossier : on peut planifier, pas charger</translation>
    </message>
    <message>
        <source>tokenizer.json: ordinary text becomes the special token %1; it counts as a word and is shown in replies</source>
        <translation>tokenizer.json : du texte ordinaire devient le token spécial %1 ; il compte comme un mot et s’affiche dans les réponses</translation>
    </message>
    <message>
        <source>tokenizer.json: post_processor (%1) is not applied: raw text gets no special tokens from it</source>
        <translation>tokenizer.json : post_processor (%1) n’est pas appliqué : le texte brut n’en reçoit pas de tokens spéciaux</translation>
    </message>
    <message>
        <source>tokenizer.json: the member %1 is unknown and has no effect</source>
        <translation>tokenizer.json : le membre %1 est inconnu et sans effet</translation>
    </message>
    <message>
        <source>trainable_token_indices does not name the module</source>
        <translation>trainable_token_indices ne nomme pas le module</translation>
    </message>
    <message>
        <source>two copies of the tied table: accelerate may move both together</source>
        <translation>deux copies de la table liée : accelerate déplace peut-être les deux ensemble</translation>
    </message>
    <message>
        <source>the preset %1 needs a GPU and this machine shows none; use the preset &quot;cpu&quot;, or try a simulated GPU with --sim-gpu</source>
        <translation>le préréglage %1 a besoin d’un GPU, et cet ordinateur n’en montre pas ; prenez le préréglage « cpu », ou essayez un GPU simulé avec --sim-gpu</translation>
    </message>
    <message>
        <source>the rules</source>
        <translation>les règles</translation>
    </message>
    <message>
        <source>This build has no GPU kernels (it was made without nvcc): graphics cards are not used.</source>
        <translation>Cette version n’a pas de noyaux GPU (elle a été construite sans nvcc) : les cartes graphiques ne sont pas utilisées.</translation>
    </message>
    <message>
        <source>token embedding (the head has its own copy) to %1</source>
        <translation>plongement des jetons (la tête a sa propre copie) vers %1</translation>
    </message>
    <message>
        <source>the size %1 has a unit in wrong upper and lower case; write KiB, MiB, GiB (1024) or KB, MB, GB (1000)</source>
        <translation>la taille %1 a une unité dont la casse est fausse ; écrivez KiB, MiB, GiB (1024) ou KB, MB, GB (1000)</translation>
    </message>
    <message>
        <source>the text has %1 bytes; a device map has at most %2</source>
        <translation>le texte a %1 octets ; un plan en a au plus %2</translation>
    </message>
    <message>
        <source>the whole model</source>
        <translation>tout le modèle</translation>
    </message>
    <message>
        <source>there is no device-map preset %1; known are %2</source>
        <translation>il n’y a pas de placement %1 ; sont connus %2</translation>
    </message>
    <message>
        <source>%1: there was no room for copies of experts</source>
        <translation>%1 : il n’y avait pas de place pour des copies d’experts</translation>
    </message>
    <message>
        <source>%1: copies of experts made room for an adapter; they come back when the layout is applied or the model is loaded</source>
        <translation>%1 : les copies d’experts ont fait place à un adaptateur ; elles reviennent quand la répartition est appliquée ou le modèle chargé</translation>
    </message>
    <message>
        <source>&quot;max&quot;, &quot;off&quot; or a size such as &quot;2GiB&quot;</source>
        <translation>« max », « off » ou une taille comme « 2GiB »</translation>
    </message>
    <message>
        <source>--expert-cache %1: expected auto, max, off or a size such as 2GiB</source>
        <translation>--expert-cache %1 : auto, max, off ou une taille comme 2GiB est attendu</translation>
    </message>
    <message>
        <source>this version keeps keys and values in bf16 (fp32 with --precision f32) or q8 and has no other format for them; change kv.format</source>
        <translation>cette version garde clés et valeurs en bf16 (fp32 avec --precision f32) ou q8 et n’a pas d’autre format pour elles ; modifiez kv.format</translation>
    </message>
    <message>
        <source>U8, the bytes of a JSON text</source>
        <translation>U8, les octets d’un texte JSON</translation>
    </message>
    <message>
        <source>unbounded memory</source>
        <translation>une mémoire sans limite</translation>
    </message>
    <message>
        <source>use a device with more memory or a smaller model</source>
        <translation>utiliser un appareil avec plus de mémoire ou un modèle plus petit</translation>
    </message>
    <message>
        <source>use a device with more memory or a smaller model, or lower the reserve</source>
        <translation>utiliser un appareil avec plus de mémoire ou un modèle plus petit, ou réduire la réserve</translation>
    </message>
    <message>
        <source>use a device with more memory or a smaller model, or raise the limit</source>
        <translation>utiliser un appareil avec plus de mémoire ou un modèle plus petit, ou relever la limite</translation>
    </message>
    <message>
        <source>use a device with more memory or a smaller model, or raise the limit or lower the reserve</source>
        <translation>utiliser un appareil avec plus de mémoire ou un modèle plus petit, relever la limite ou réduire la réserve</translation>
    </message>
    <message>
        <source>unknown escape: %1 after \</source>
        <translation>séquence d’échappement inconnue : %1 après \</translation>
    </message>
    <message>
        <source>unknown member %1; known are %2</source>
        <translation>le membre %1 est inconnu ; sont connus %2</translation>
    </message>
    <message>
        <source>VeLoRA is not implemented</source>
        <translation>VeLoRA n’existe pas ici</translation>
    </message>
    <message>
        <source>vision tower to %1</source>
        <translation>tour de vision vers %1</translation>
    </message>
    <message>
        <source>version is missing: with an object as a value this is not accelerate&apos;s form; add &quot;version&quot;: 1 and put module keys into &quot;map&quot;</source>
        <translation>&quot;version&quot; manque : avec un objet pour valeur, ce n’est pas la forme d’accelerate. Ajoutez &quot;version&quot;: 1 et mettez les clés des modules dans &quot;map&quot;</translation>
    </message>
    <message>
        <source>WAV header: %1 bits per sample</source>
        <translation>en-tête WAV : %1 bits par échantillon</translation>
    </message>
    <message>
        <source>WAV header: a block of samples has 0 bytes</source>
        <translation>en-tête WAV : un bloc d’échantillons a 0 octet</translation>
    </message>
    <message>
        <source>WAV header: the &apos;fmt &apos; chunk has %1 bytes, at least 16 are needed</source>
        <translation>en-tête WAV : le bloc &apos;fmt &apos; a %1 octets, il en faut au moins 16</translation>
    </message>
    <message>
        <source>WAV header: the file ends after %1 bytes without a %2 chunk</source>
        <translation>en-tête WAV : le fichier finit après %1 octets sans bloc %2</translation>
    </message>
    <message>
        <source>WAV header: the samples start before any &apos;fmt &apos; chunk</source>
        <translation>en-tête WAV : les échantillons commencent avant tout bloc &apos;fmt &apos;</translation>
    </message>
    <message>
        <source>WebP data: %1</source>
        <translation>données WebP : %1</translation>
    </message>
    <message>
        <source>WebP header: %1</source>
        <translation>en-tête WebP : %1</translation>
    </message>
    <message>
        <source>__metadata__ has more than 4096 members</source>
        <translation>__metadata__ a plus de 4096 membres</translation>
    </message>
    <message>
        <source>__metadata__ is %1, expected an object</source>
        <translation>__metadata__ est %1, attendu : un objet</translation>
    </message>
    <message>
        <source>__metadata__ member &quot;%1&quot; is %2, expected a text</source>
        <translation>le membre &quot;%1&quot; de __metadata__ est %2, attendu : un texte</translation>
    </message>
    <message>
        <source>__metadata__ occurs twice</source>
        <translation>__metadata__ figure deux fois</translation>
    </message>
    <message>
        <source>__metadata__: %1</source>
        <translation>__metadata__ : %1</translation>
    </message>
    <message>
        <source>a %1 JPEG; save it as ordinary JPEG or PNG and give that</source>
        <translation>un JPEG %1 ; enregistrez-le en JPEG ordinaire ou en PNG et donnez cela</translation>
    </message>
    <message>
        <source>a %1 recording in an encoding that is not read; save it as 16-bit WAV or FLAC and give that</source>
        <translation>un enregistrement %1 dans un codage qui n’est pas lu ; enregistrez-le en WAV 16 bits ou FLAC et donnez cela</translation>
    </message>
    <message>
        <source>a 7z archive</source>
        <translation>une archive 7z</translation>
    </message>
    <message>
        <source>a BMP picture</source>
        <translation>une image BMP</translation>
    </message>
    <message>
        <source>a BigTIFF picture</source>
        <translation>une image BigTIFF</translation>
    </message>
    <message>
        <source>a CAF recording</source>
        <translation>un enregistrement CAF</translation>
    </message>
    <message>
        <source>a DDS texture</source>
        <translation>une texture DDS</translation>
    </message>
    <message>
        <source>a FLAC recording</source>
        <translation>un enregistrement FLAC</translation>
    </message>
    <message>
        <source>a Flash video</source>
        <translation>une vidéo Flash</translation>
    </message>
    <message>
        <source>a GIF picture</source>
        <translation>une image GIF</translation>
    </message>
    <message>
        <source>a GIMP document</source>
        <translation>un document GIMP</translation>
    </message>
    <message>
        <source>a HEIC picture</source>
        <translation>une image HEIC</translation>
    </message>
    <message>
        <source>a HEIF picture</source>
        <translation>une image HEIF</translation>
    </message>
    <message>
        <source>a JPEG 2000 picture</source>
        <translation>une image JPEG 2000</translation>
    </message>
    <message>
        <source>a JPEG XL picture</source>
        <translation>une image JPEG XL</translation>
    </message>
    <message>
        <source>a JPEG picture</source>
        <translation>une image JPEG</translation>
    </message>
    <message>
        <source>a JPEG with %1 bits per value, 8 are supported; save it as 8-bit JPEG or PNG</source>
        <translation>un JPEG avec %1 bits par valeur, 8 sont lus ; enregistrez-le en JPEG 8 bits ou en PNG</translation>
    </message>
    <message>
        <source>a JPEG with %1 components; 1 (grey), 3 (colour) and 4 (CMYK) are supported</source>
        <translation>un JPEG avec %1 composantes ; 1 (gris), 3 (couleur) et 4 (CMJN) sont lus</translation>
    </message>
    <message>
        <source>a JPEG with more than %1 progressive scans; save it again with any picture program</source>
        <translation>un JPEG avec plus de %1 passes progressives ; enregistrez-le à nouveau avec un programme d’images</translation>
    </message>
    <message>
        <source>a JSON object</source>
        <translation>un objet JSON</translation>
    </message>
    <message>
        <source>a MIDI file</source>
        <translation>un fichier MIDI</translation>
    </message>
    <message>
        <source>a Matroska or WebM video</source>
        <translation>une vidéo Matroska ou WebM</translation>
    </message>
    <message>
        <source>a Monkey&apos;s Audio recording</source>
        <translation>un enregistrement Monkey’s Audio</translation>
    </message>
    <message>
        <source>a Musepack recording</source>
        <translation>un enregistrement Musepack</translation>
    </message>
    <message>
        <source>a Netpbm picture</source>
        <translation>une image Netpbm</translation>
    </message>
    <message>
        <source>a PDF document</source>
        <translation>un document PDF</translation>
    </message>
    <message>
        <source>a PNG in Apple&apos;s private variant (CgBI); open and save it as ordinary PNG</source>
        <translation>un PNG dans la variante privée d’Apple (CgBI) ; ouvrez-le et enregistrez-le en PNG ordinaire</translation>
    </message>
    <message>
        <source>a PNG picture</source>
        <translation>une image PNG</translation>
    </message>
    <message>
        <source>a Photoshop document</source>
        <translation>un document Photoshop</translation>
    </message>
    <message>
        <source>a PostScript document</source>
        <translation>un document PostScript</translation>
    </message>
    <message>
        <source>a QOI picture</source>
        <translation>une image QOI</translation>
    </message>
    <message>
        <source>a QuickTime video</source>
        <translation>une vidéo QuickTime</translation>
    </message>
    <message>
        <source>a RAR archive</source>
        <translation>une archive RAR</translation>
    </message>
    <message>
        <source>a Radiance HDR picture</source>
        <translation>une image Radiance HDR</translation>
    </message>
    <message>
        <source>a Sony Wave64 recording</source>
        <translation>un enregistrement Sony Wave64</translation>
    </message>
    <message>
        <source>a TIFF or camera raw picture</source>
        <translation>une image TIFF ou brute d’appareil photo</translation>
    </message>
    <message>
        <source>a TIFF picture</source>
        <translation>une image TIFF</translation>
    </message>
    <message>
        <source>a TTA recording</source>
        <translation>un enregistrement TTA</translation>
    </message>
    <message>
        <source>a Unicode escape (\%1)</source>
        <translation>un échappement Unicode (\%1)</translation>
    </message>
    <message>
        <source>a VOC recording</source>
        <translation>un enregistrement VOC</translation>
    </message>
    <message>
        <source>a WAV recording</source>
        <translation>un enregistrement WAV</translation>
    </message>
    <message>
        <source>a WMF drawing</source>
        <translation>un dessin WMF</translation>
    </message>
    <message>
        <source>a WavPack recording</source>
        <translation>un enregistrement WavPack</translation>
    </message>
    <message>
        <source>a WebP picture</source>
        <translation>une image WebP</translation>
    </message>
    <message>
        <source>a WebP picture, which this build cannot read (built without libwebp); save it as PNG or JPEG and give that</source>
        <translation>une image WebP, que ce programme ne peut pas lire (construit sans libwebp) ; enregistrez-la en PNG ou JPEG et donnez cela</translation>
    </message>
    <message>
        <source>a Windows Media file</source>
        <translation>un fichier Windows Media</translation>
    </message>
    <message>
        <source>a Windows cursor</source>
        <translation>un curseur Windows</translation>
    </message>
    <message>
        <source>a Windows icon</source>
        <translation>une icône Windows</translation>
    </message>
    <message>
        <source>a ZIP archive or office document</source>
        <translation>une archive ZIP ou un document bureautique</translation>
    </message>
    <message>
        <source>a bias of lora_B, which PEFT does not have for this kind of module</source>
        <translation>un biais de lora_B, que PEFT n’a pas pour ce genre de module</translation>
    </message>
    <message>
        <source>a boolean</source>
        <translation>un booléen</translation>
    </message>
    <message>
        <source>a boolean or a name</source>
        <translation>un booléen ou un nom</translation>
    </message>
    <message>
        <source>a camera raw picture</source>
        <translation>une image brute d’appareil photo</translation>
    </message>
    <message>
        <source>a clip of %1 samples at 16 kHz: expected from %2 to %3</source>
        <translation>un extrait de %1 échantillons à 16 kHz : attendu de %2 à %3</translation>
    </message>
    <message>
        <source>a device</source>
        <translation>un périphérique</translation>
    </message>
    <message>
        <source>a device refused a copy of weights; restart the program</source>
        <translation>un appareil a refusé une copie de poids ; redémarrez le programme</translation>
    </message>
    <message>
        <source>a disk</source>
        <translation>un disque</translation>
    </message>
    <message>
        <source>a division that is not whole</source>
        <translation>une division qui ne tombe pas juste</translation>
    </message>
    <message>
        <source>a finite number</source>
        <translation>un nombre fini</translation>
    </message>
    <message>
        <source>a finite number that is not negative</source>
        <translation>un nombre fini qui n’est pas négatif</translation>
    </message>
    <message>
        <source>a folder</source>
        <translation>un dossier</translation>
    </message>
    <message>
        <source>a group is not closed</source>
        <translation>un groupe n’est pas fermé</translation>
    </message>
    <message>
        <source>a gzip archive</source>
        <translation>une archive gzip</translation>
    </message>
    <message>
        <source>a layer number or a list of them</source>
        <translation>un numéro de couche ou une liste de numéros</translation>
    </message>
    <message>
        <source>a linear layer takes lora_A.weight and lora_B.weight</source>
        <translation>une couche linéaire prend lora_A.weight et lora_B.weight</translation>
    </message>
    <message>
        <source>a list</source>
        <translation>une liste</translation>
    </message>
    <message>
        <source>a list of names, a regular expression or null</source>
        <translation>une liste de noms, une expression régulière ou null</translation>
    </message>
    <message>
        <source>a list of numbers holds %1</source>
        <translation>une liste de nombres contient %1</translation>
    </message>
    <message>
        <source>a list of strings</source>
        <translation>une liste de chaînes</translation>
    </message>
    <message>
        <source>a list of strings or null</source>
        <translation>une liste de chaînes ou null</translation>
    </message>
    <message>
        <source>a list of token ids</source>
        <translation>une liste de numéros de jetons</translation>
    </message>
    <message>
        <source>a list or a map as text</source>
        <translation>une liste ou un objet comme texte</translation>
    </message>
    <message>
        <source>a loop over pairs that are none</source>
        <translation>une boucle sur des paires qui n’en sont pas</translation>
    </message>
    <message>
        <source>a loop over what is no list</source>
        <translation>une boucle sur ce qui n’est pas une liste</translation>
    </message>
    <message>
        <source>a low-rank update of %1, which is neither a linear layer nor an embedding</source>
        <translation>une mise à jour de rang faible de %1, qui n’est ni une couche linéaire ni un plongement</translation>
    </message>
    <message>
        <source>a number</source>
        <translation>un nombre</translation>
    </message>
    <message>
        <source>a number from 0 to 1</source>
        <translation>un nombre de 0 à 1</translation>
    </message>
    <message>
        <source>a number from 0 to 100</source>
        <translation>un nombre de 0 à 100</translation>
    </message>
    <message>
        <source>a numeric escape in a text</source>
        <translation>un échappement numérique dans un texte</translation>
    </message>
    <message>
        <source>a part to listen to starts at 0 s or later and has more than 0 and at most %1 s</source>
        <translation>une partie à écouter commence à 0 s ou plus tard et dure plus de 0 et au plus %1 s</translation>
    </message>
    <message>
        <source>a picture has more soft tokens than one prefill call holds (%1); load with a larger --image-tokens</source>
        <translation>une image a plus de jetons qu’on n’en lit à la fois (%1) ; chargez avec plus de --image-tokens</translation>
    </message>
    <message>
        <source>a picture of %1 cannot be resized</source>
        <translation>une image de %1 ne peut pas être redimensionnée</translation>
    </message>
    <message>
        <source>a picture of %1 comes with %2 bytes of pixels</source>
        <translation>une image de %1 vient avec %2 octets de pixels</translation>
    </message>
    <message>
        <source>a picture of %1 has no size within %2 image tokens</source>
        <translation>une image de %1 n’a pas de taille dans la limite de %2 jetons</translation>
    </message>
    <message>
        <source>a picture of %1 would need %2 patches along one side, the model has %3 positions; cut it into less elongated parts or choose a smaller image token budget</source>
        <translation>une image de %1 demanderait %2 carreaux le long d’un côté, le modèle a %3 positions ; coupez-la en parties moins allongées ou choisissez moins de jetons par image</translation>
    </message>
    <message>
        <source>a pipe</source>
        <translation>un tube</translation>
    </message>
    <message>
        <source>a positive 32-bit number</source>
        <translation>un nombre positif de 32 bits</translation>
    </message>
    <message>
        <source>a program</source>
        <translation>un programme</translation>
    </message>
    <message>
        <source>a recording</source>
        <translation>un enregistrement</translation>
    </message>
    <message>
        <source>a recursive loop</source>
        <translation>une boucle récursive</translation>
    </message>
    <message>
        <source>a second key for the same tensor, after %1</source>
        <translation>une seconde clé pour le même tenseur, après %1</translation>
    </message>
    <message>
        <source>a sign before what is no whole number</source>
        <translation>un signe devant ce qui n’est pas un nombre entier</translation>
    </message>
    <message>
        <source>a slice of more than three parts</source>
        <translation>une tranche de plus de trois parties</translation>
    </message>
    <message>
        <source>a slice with step 0</source>
        <translation>une tranche de pas 0</translation>
    </message>
    <message>
        <source>a socket</source>
        <translation>un socket</translation>
    </message>
    <message>
        <source>a storage type with whole bytes</source>
        <translation>un type de stockage à octets entiers</translation>
    </message>
    <message>
        <source>a string</source>
        <translation>une chaîne</translation>
    </message>
    <message>
        <source>a string or null</source>
        <translation>une chaîne ou null</translation>
    </message>
    <message>
        <source>a tag is not closed</source>
        <translation>une balise n’est pas fermée</translation>
    </message>
    <message>
        <source>a tensor has an empty name</source>
        <translation>un tenseur a un nom vide</translation>
    </message>
    <message>
        <source>a tensor name has %1 bytes, at most 1024 are allowed: %2</source>
        <translation>un nom de tenseur a %1 octets, 1024 au plus sont permis : %2</translation>
    </message>
    <message>
        <source>a tensor name in weight_map is empty or longer than 1024 bytes</source>
        <translation>un nom de tenseur dans weight_map est vide ou a plus de 1024 octets</translation>
    </message>
    <message>
        <source>a text</source>
        <translation>un texte</translation>
    </message>
    <message>
        <source>a text is not closed</source>
        <translation>un texte n’est pas fermé</translation>
    </message>
    <message>
        <source>a value</source>
        <translation>une valeur</translation>
    </message>
    <message>
        <source>a vision tower</source>
        <translation>une tour de vision</translation>
    </message>
    <message>
        <source>a whole number</source>
        <translation>un nombre entier</translation>
    </message>
    <message>
        <source>adapter %1 is listed twice</source>
        <translation>l’adaptateur %1 figure deux fois</translation>
    </message>
    <message>
        <source>adapter rank %1: expected 1 to %2</source>
        <translation>rang %1 de l’adaptateur : attendu 1 à %2</translation>
    </message>
    <message>
        <source>adapter strength %1 is outside 0 to 2</source>
        <translation>la force %1 de l’adaptateur est hors de 0 à 2</translation>
    </message>
    <message>
        <source>%1: %2: element %3 is not a finite number; the adapter is damaged or training diverged</source>
        <translation>%1 : %2 : l’élément %3 n’est pas un nombre fini ; l’adaptateur est endommagé ou l’entraînement a divergé</translation>
    </message>
    <message>
        <source>adapters %1 and %2 both replace %3; enable one of them at a time</source>
        <translation>les adaptateurs %1 et %2 remplacent tous deux %3 ; n’en activez qu’un à la fois</translation>
    </message>
    <message>
        <source>adapters %1 and %2 both replace token %3 of %4; enable one of them at a time</source>
        <translation>les adaptateurs %1 et %2 remplacent tous deux le jeton %3 de %4 ; n’en activez qu’un à la fois</translation>
    </message>
    <message>
        <source>adapters of kind %1 cannot be run; only LORA can</source>
        <translation>les adaptateurs de type %1 ne peuvent pas tourner ; seul LORA le peut</translation>
    </message>
    <message>
        <source>added_tokens lists %1 twice</source>
        <translation>added_tokens nomme %1 deux fois</translation>
    </message>
    <message>
        <source>added_tokens lists the byte token %1, which unknown characters turn into</source>
        <translation>added_tokens nomme le jeton d’octet %1, en lequel les caractères inconnus se changent</translation>
    </message>
    <message>
        <source>added_tokens: %1 has the id %2, model.vocab says %3</source>
        <translation>added_tokens : %1 a le numéro %2, model.vocab dit %3</translation>
    </message>
    <message>
        <source>added_tokens: entry %1</source>
        <translation>added_tokens : entrée %1</translation>
    </message>
    <message>
        <source>added_tokens: expected an array, found %1</source>
        <translation>added_tokens : attendu un tableau, trouvé %1</translation>
    </message>
    <message>
        <source>added_tokens: the id of %1 is %2, but there are %3 tokens in all and ids run from 0 without a gap</source>
        <translation>added_tokens : le numéro de %1 est %2, mais il y a %3 jetons en tout et les numéros vont de 0 sans trou</translation>
    </message>
    <message>
        <source>alpha %1 is beyond 1e9 in size</source>
        <translation>alpha %1 dépasse 1e9</translation>
    </message>
    <message>
        <source>an AAC recording</source>
        <translation>un enregistrement AAC</translation>
    </message>
    <message>
        <source>an AIFF recording</source>
        <translation>un enregistrement AIFF</translation>
    </message>
    <message>
        <source>an AMR recording</source>
        <translation>un enregistrement AMR</translation>
    </message>
    <message>
        <source>an AU recording</source>
        <translation>un enregistrement AU</translation>
    </message>
    <message>
        <source>an AVI video</source>
        <translation>une vidéo AVI</translation>
    </message>
    <message>
        <source>an AVIF picture</source>
        <translation>une image AVIF</translation>
    </message>
    <message>
        <source>an EMF drawing</source>
        <translation>un dessin EMF</translation>
    </message>
    <message>
        <source>an HTML page</source>
        <translation>une page HTML</translation>
    </message>
    <message>
        <source>an M4A recording</source>
        <translation>un enregistrement M4A</translation>
    </message>
    <message>
        <source>an MNG animation</source>
        <translation>une animation MNG</translation>
    </message>
    <message>
        <source>an MP3 recording</source>
        <translation>un enregistrement MP3</translation>
    </message>
    <message>
        <source>an MP4 video</source>
        <translation>une vidéo MP4</translation>
    </message>
    <message>
        <source>an MPEG video</source>
        <translation>une vidéo MPEG</translation>
    </message>
    <message>
        <source>an Ogg file with %1; Ogg Vorbis and Opus recordings are supported, save it as one of these or as WAV</source>
        <translation>un fichier Ogg avec %1 ; les enregistrements Ogg Vorbis et Opus sont lus, enregistrez-le ainsi ou en WAV</translation>
    </message>
    <message>
        <source>an Ogg recording</source>
        <translation>un enregistrement Ogg</translation>
    </message>
    <message>
        <source>an OpenEXR picture</source>
        <translation>une image OpenEXR</translation>
    </message>
    <message>
        <source>an SVG drawing</source>
        <translation>un dessin SVG</translation>
    </message>
    <message>
        <source>an array</source>
        <translation>une liste</translation>
    </message>
    <message>
        <source>an array of %1 strings</source>
        <translation>un tableau de %1 chaînes</translation>
    </message>
    <message>
        <source>an assignment to a member of what is no namespace</source>
        <translation>une affectation à un membre de ce qui n’est pas un espace de noms</translation>
    </message>
    <message>
        <source>an audio tower</source>
        <translation>une tour audio</translation>
    </message>
    <message>
        <source>an embedding takes lora_embedding_A and lora_embedding_B</source>
        <translation>un plongement prend lora_embedding_A et lora_embedding_B</translation>
    </message>
    <message>
        <source>an empty file</source>
        <translation>un fichier vide</translation>
    </message>
    <message>
        <source>an empty subscript</source>
        <translation>un indice vide</translation>
    </message>
    <message>
        <source>an incomplete \x escape</source>
        <translation>un échappement \x incomplet</translation>
    </message>
    <message>
        <source>an object</source>
        <translation>un objet</translation>
    </message>
    <message>
        <source>an object has more than %1 members</source>
        <translation>un objet a plus de %1 membres</translation>
    </message>
    <message>
        <source>an object of patterns</source>
        <translation>un objet de motifs</translation>
    </message>
    <message>
        <source>an object without a type</source>
        <translation>un objet sans type</translation>
    </message>
    <message>
        <source>an unknown 4-bit code table, %1 there</source>
        <translation>une table de codes 4 bits inconnue, %1 à cet endroit</translation>
    </message>
    <message>
        <source>an unknown IFF file</source>
        <translation>un fichier IFF inconnu</translation>
    </message>
    <message>
        <source>an unknown RIFF file</source>
        <translation>un fichier RIFF inconnu</translation>
    </message>
    <message>
        <source>an unknown group type</source>
        <translation>un type de groupe inconnu</translation>
    </message>
    <message>
        <source>an xz archive</source>
        <translation>une archive xz</translation>
    </message>
    <message>
        <source>arithmetic on fractions or very large numbers</source>
        <translation>un calcul sur des fractions ou de très grands nombres</translation>
    </message>
    <message>
        <source>arithmetic-coded</source>
        <translation>à codage arithmétique</translation>
    </message>
    <message>
        <source>at most 64 members</source>
        <translation>64 membres au plus</translation>
    </message>
    <message>
        <source>audio</source>
        <translation>son</translation>
    </message>
    <message>
        <source>audio tower</source>
        <translation>tour audio</translation>
    </message>
    <message>
        <source>audio: %1 frames are too few; at least 161 samples are needed</source>
        <translation>audio : %1 trames ne suffisent pas ; il faut au moins 161 échantillons</translation>
    </message>
    <message>
        <source>audio: %1 tokens, the model takes at most %2 (30 s) per clip; cut the clip</source>
        <translation>audio : %1 jetons, le modèle en prend %2 au plus (30 s) par extrait ; coupez l’extrait</translation>
    </message>
    <message>
        <source>beside group_size and without quant_method is how MLX writes quantized models, which cannot be read; use the 16-bit model it was converted from or a bitsandbytes 4-bit one</source>
        <translation>à côté de group_size et sans quant_method, c’est ainsi que MLX écrit les modèles quantifiés, qui ne peuvent pas être lus ; prenez le modèle 16 bits dont il provient ou un modèle 4 bits de bitsandbytes</translation>
    </message>
    <message>
        <source>block-diagonal LoRA is not implemented</source>
        <translation>le LoRA bloc-diagonal n’existe pas ici</translation>
    </message>
    <message>
        <source>blocks nested too deeply</source>
        <translation>des blocs imbriqués trop profondément</translation>
    </message>
    <message>
        <source>cannot be combined with use_dora</source>
        <translation>ne peut pas être combiné avec use_dora</translation>
    </message>
    <message>
        <source>cannot be created: %1</source>
        <translation>ne peut pas être créé : %1</translation>
    </message>
    <message>
        <source>cannot be examined: %1</source>
        <translation>ne peut pas être examiné : %1</translation>
    </message>
    <message>
        <source>cannot be opened</source>
        <translation>ne peut pas être ouvert</translation>
    </message>
    <message>
        <source>cannot be opened: %1</source>
        <translation>ne peut pas être ouvert : %1</translation>
    </message>
    <message>
        <source>cannot be opened; check that you may read it</source>
        <translation>ne peut pas être ouvert ; vérifiez que vous pouvez le lire</translation>
    </message>
    <message>
        <source>cannot be read: %1</source>
        <translation>ne peut pas être lu : %1</translation>
    </message>
    <message>
        <source>cannot be used when target_modules is a string</source>
        <translation>ne peut pas être utilisé quand target_modules est une chaîne</translation>
    </message>
    <message>
        <source>cannot differ between layers in this version; only head_dim and num_key_value_heads can</source>
        <translation>ne peut pas différer d’une couche à l’autre dans cette version ; seuls head_dim et num_key_value_heads le peuvent</translation>
    </message>
    <message>
        <source>cannot resize a picture to %1</source>
        <translation>impossible de redimensionner une image à %1</translation>
    </message>
    <message>
        <source>changed while it was open: it had %1 bytes, now it has %2; load the model again</source>
        <translation>a changé pendant qu’il était ouvert : il avait %1 octets, maintenant il en a %2 ; rechargez le modèle</translation>
    </message>
    <message>
        <source>changed while it was open: its modification time is another one; load the model again</source>
        <translation>a changé pendant qu’il était ouvert : sa date de modification est une autre ; rechargez le modèle</translation>
    </message>
    <message>
        <source>changing adapters needed more memory than the system gave; close other programs, or choose a smaller context or a smaller format</source>
        <translation>le changement d’adaptateurs a demandé plus de mémoire que le système n’en donne ; fermez d’autres programmes, ou choisissez un contexte plus petit ou un format plus petit</translation>
    </message>
    <message>
        <source>config.json has a quantization_config</source>
        <translation>config.json a une quantization_config</translation>
    </message>
    <message>
        <source>config.json: its sizes add up to more than 2^44 parameters (at %1); no machine can hold that</source>
        <translation>config.json : ses tailles donnent ensemble plus de 2^44 paramètres (à %1) ; aucune machine ne peut contenir cela</translation>
    </message>
    <message>
        <source>config.json: the file is empty</source>
        <translation>config.json : le fichier est vide</translation>
    </message>
    <message>
        <source>config.json: there is no such file in the folder %1</source>
        <translation>config.json : il n’y a pas de tel fichier dans le dossier %1</translation>
    </message>
    <message>
        <source>control character in a string</source>
        <translation>caractère de contrôle dans une chaîne</translation>
    </message>
    <message>
        <source>copying %1</source>
        <translation>copie de %1</translation>
    </message>
    <message>
        <source>copying weights from %1 to %2 failed; restart the program</source>
        <translation>la copie de poids de %1 vers %2 a échoué ; redémarrez le programme</translation>
    </message>
    <message>
        <source>data_offsets has %1 numbers, expected 2</source>
        <translation>data_offsets a %1 nombres, attendu : 2</translation>
    </message>
    <message>
        <source>data_offsets has more than 2 numbers</source>
        <translation>data_offsets a plus de 2 nombres</translation>
    </message>
    <message>
        <source>data_offsets is %1, expected a list</source>
        <translation>data_offsets est %1, attendu : une liste</translation>
    </message>
    <message>
        <source>decoder layer %1</source>
        <translation>la couche de décodeur %1</translation>
    </message>
    <message>
        <source>decoder: expected ByteLevel, or Sequence of Replace U+2581 by a space, ByteFallback, Fuse and, where the normalizer has Prepend, Strip of that space, found %1</source>
        <translation>decoder : attendu ByteLevel, ou Sequence de Replace de U+2581 par une espace, ByteFallback, Fuse et, là où normalizer a Prepend, Strip de cette espace, trouvé %1</translation>
    </message>
    <message>
        <source>device map %1: expected a file or one of the presets %2</source>
        <translation>plan d’appareils %1 : attendu un fichier ou l’un des préréglages %2</translation>
    </message>
    <message>
        <source>differs from eoa_token_id</source>
        <translation>diffère de eoa_token_id</translation>
    </message>
    <message>
        <source>does not begin with a JSON object; expected a device map in accelerate&apos;s form or Belfry&apos;s version 1</source>
        <translation>ne commence pas par un objet JSON ; attendu : un plan d’appareils dans la forme d’accelerate ou la version 1 de Belfry</translation>
    </message>
    <message>
        <source>get it with: belfry-cli get %1</source>
        <translation>récupérez-le avec : belfry-cli get %1</translation>
    </message>
    <message>
        <source>dtype is %1, expected a text</source>
        <translation>dtype est %1, attendu : un texte</translation>
    </message>
    <message>
        <source>each member once</source>
        <translation>chaque membre une seule fois</translation>
    </message>
    <message>
        <source>element type %1, expected F32, F16 or BF16</source>
        <translation>type d’éléments %1, attendu : F32, F16 ou BF16</translation>
    </message>
    <message>
        <source>ends at byte %1 although it had %2 bytes when it was opened</source>
        <translation>finit à l’octet %1 alors qu’il avait %2 octets à l’ouverture</translation>
    </message>
    <message>
        <source>expected &quot;%1&quot;, found &quot;%2&quot;</source>
        <translation>attendu &quot;%1&quot;, trouvé &quot;%2&quot;</translation>
    </message>
    <message>
        <source>expected &quot;none&quot;, &quot;all&quot; or &quot;lora_only&quot;, found &quot;%1&quot;</source>
        <translation>attendu : &quot;none&quot;, &quot;all&quot; ou &quot;lora_only&quot;, trouvé : &quot;%1&quot;</translation>
    </message>
    <message>
        <source>expected %1, found %2</source>
        <translation>attendu : %1, trouvé : %2</translation>
    </message>
    <message>
        <source>expected &apos;,&apos; or &apos;]&apos;</source>
        <translation>attendu : &apos;,&apos; ou &apos;]&apos;</translation>
    </message>
    <message>
        <source>expected &apos;,&apos; or &apos;}&apos;</source>
        <translation>attendu : &apos;,&apos; ou &apos;}&apos;</translation>
    </message>
    <message>
        <source>expected &apos;:&apos;</source>
        <translation>attendu : &apos;:&apos;</translation>
    </message>
    <message>
        <source>expected a member name</source>
        <translation>attendu : un nom de membre</translation>
    </message>
    <message>
        <source>expected a member name or &apos;}&apos;</source>
        <translation>attendu : un nom de membre ou &apos;}&apos;</translation>
    </message>
    <message>
        <source>expected a name, found &quot;%1&quot;</source>
        <translation>attendu un nom, trouvé &quot;%1&quot;</translation>
    </message>
    <message>
        <source>expected a picture (PNG, JPEG or WebP), found %1; if it is a picture, save it as PNG or JPEG and give that</source>
        <translation>attendu : une image (PNG, JPEG ou WebP), trouvé : %1 ; si c’est une image, enregistrez-la en PNG ou JPEG et donnez cela</translation>
    </message>
    <message>
        <source>expected a recording (WAV, FLAC, Ogg, MP3, AIFF or AU), found %1; if it is a recording, save it as WAV or FLAC and give that</source>
        <translation>attendu : un enregistrement (WAV, FLAC, Ogg, MP3, AIFF ou AU), trouvé : %1 ; si c’est un enregistrement, enregistrez-le en WAV ou FLAC et donnez cela</translation>
    </message>
    <message>
        <source>expected a value</source>
        <translation>attendu : une valeur</translation>
    </message>
    <message>
        <source>expected an object at the top level</source>
        <translation>attendu : un objet au niveau supérieur</translation>
    </message>
    <message>
        <source>expected an object, found %1</source>
        <translation>attendu : un objet, trouvé : %1</translation>
    </message>
    <message>
        <source>expressions nested too deeply</source>
        <translation>des expressions imbriquées trop profondément</translation>
    </message>
    <message>
        <source>finite values</source>
        <translation>des valeurs finies</translation>
    </message>
    <message>
        <source>finite values that are not negative</source>
        <translation>des valeurs finies qui ne sont pas négatives</translation>
    </message>
    <message>
        <source>flushing to disk failed: %1</source>
        <translation>l’écriture sur le disque a échoué : %1</translation>
    </message>
    <message>
        <source>give raw logits</source>
        <translation>donner des logits bruts</translation>
    </message>
    <message>
        <source>give the folder that holds the adapter&apos;s adapter_config.json, or a GGUF file</source>
        <translation>donnez le dossier qui contient l’adapter_config.json de l’adaptateur, ou un fichier GGUF</translation>
    </message>
    <message>
        <source>gives %1 %2 heads of %3, more than %4 values together</source>
        <translation>donne à %1 %2 têtes de %3, plus de %4 valeurs en tout</translation>
    </message>
    <message>
        <source>gives %1 %2 key/value heads, which do not divide its %3 query heads</source>
        <translation>donne à %1 %2 têtes de clé/valeur, qui ne divisent pas ses %3 têtes de requête</translation>
    </message>
    <message>
        <source>gives %1 other key/value sizes than layer %2, whose keys and values it reads</source>
        <translation>donne à %1 d’autres tailles de clé/valeur qu’à la couche %2, dont elle lit les clés et valeurs</translation>
    </message>
    <message>
        <source>global flags that do not stand at the start</source>
        <translation>des drapeaux globaux qui ne sont pas au début</translation>
    </message>
    <message>
        <source>has %1 bytes, at most %2 are read</source>
        <translation>a %1 octets, %2 au plus sont lus</translation>
    </message>
    <message>
        <source>has %1 bytes, bytes %2 to %3 were asked for</source>
        <translation>a %1 octets, les octets %2 à %3 ont été demandés</translation>
    </message>
    <message>
        <source>has %1 bytes, more than the %2 such a file may have</source>
        <translation>a %1 octets, plus que les %2 qu’un tel fichier peut avoir</translation>
    </message>
    <message>
        <source>has %1 entries</source>
        <translation>a %1 entrées</translation>
    </message>
    <message>
        <source>has %1 entries, at most %2 are read</source>
        <translation>a %1 entrées, %2 au plus sont lues</translation>
    </message>
    <message>
        <source>has %1 entries, expected 2</source>
        <translation>a %1 entrées, attendu : 2</translation>
    </message>
    <message>
        <source>has %1 entries, num_hidden_layers is %2</source>
        <translation>a %1 entrées, num_hidden_layers est %2</translation>
    </message>
    <message>
        <source>has an empty entry</source>
        <translation>a une entrée vide</translation>
    </message>
    <message>
        <source>has an entry of %1 bytes, at most %2 are read</source>
        <translation>a une entrée de %1 octets, %2 au plus sont lus</translation>
    </message>
    <message>
        <source>has more than %1 bytes, the most that is expected of it</source>
        <translation>a plus de %1 octets, le maximum attendu</translation>
    </message>
    <message>
        <source>has no weight_map with tensors in it</source>
        <translation>n’a pas de weight_map contenant des tenseurs</translation>
    </message>
    <message>
        <source>has only %1 bytes; a safetensors file begins with an 8-byte header length</source>
        <translation>n’a que %1 octets ; un fichier safetensors commence par 8 octets pour la longueur de l’en-tête</translation>
    </message>
    <message>
        <source>hierarchical</source>
        <translation>hiérarchique</translation>
    </message>
    <message>
        <source>holds &quot;%1&quot;; only sliding_attention and full_attention are known</source>
        <translation>contient &quot;%1&quot; ; seuls sliding_attention et full_attention sont connus</translation>
    </message>
    <message>
        <source>holds %1</source>
        <translation>contient %1</translation>
    </message>
    <message>
        <source>holds %1 rows, the vocabulary of the model has %2: the vocabulary was resized while training, which needs the resized base</source>
        <translation>contient %1 lignes, le vocabulaire du modèle en a %2 : le vocabulaire a changé de taille pendant l’entraînement, ce qui demande la base changée</translation>
    </message>
    <message>
        <source>holds %1, expected only texts</source>
        <translation>contient %1, attendu : seulement des textes</translation>
    </message>
    <message>
        <source>holds a number that no double can hold</source>
        <translation>contient un nombre qu’aucun flottant double ne peut représenter</translation>
    </message>
    <message>
        <source>holds only its header; download the whole file to load %1</source>
        <translation>ne contient que son en-tête ; téléchargez le fichier entier pour charger %1</translation>
    </message>
    <message>
        <source>image</source>
        <translation>image</translation>
    </message>
    <message>
        <source>image of %1 x %2 patches: does not fit the budget the model was loaded for; load with a larger --image-tokens</source>
        <translation>image de %1 x %2 carreaux : ne tient pas dans ce pour quoi le modèle a été chargé ; chargez avec plus de --image-tokens</translation>
    </message>
    <message>
        <source>image of %1 x %2 patches: the model knows %3 positions per side; choose a smaller token budget or a squarer picture</source>
        <translation>image de %1 x %2 carreaux : le modèle connaît %3 positions par côté ; choisissez moins de jetons ou une image plus carrée</translation>
    </message>
    <message>
        <source>image token budget %1: expected 70, 140, 280, 560 or 1120</source>
        <translation>%1 jetons par image : attendu 70, 140, 280, 560 ou 1120</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; %2 and %3 are implemented</source>
        <translation>est &quot;%1&quot; ; seuls %2 et %3 sont possibles</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; only %2 is implemented</source>
        <translation>est &quot;%1&quot; ; seul %2 est possible</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; only default and axial are implemented</source>
        <translation>est &quot;%1&quot; ; seuls default et axial sont possibles</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; only default and llama3 are implemented</source>
        <translation>est &quot;%1&quot; ; seuls default et llama3 sont implémentés</translation>
    </message>
    <message>
        <source>is missing, expected a number</source>
        <translation>manque ; un nombre est attendu</translation>
    </message>
    <message>
        <source>is %1, expected more than low_freq_factor</source>
        <translation>est %1 ; une valeur supérieure à low_freq_factor est attendue</translation>
    </message>
    <message>
        <source>is no list of %1 numbers above zero</source>
        <translation>n’est pas une liste de %1 nombres supérieurs à zéro</translation>
    </message>
    <message>
        <source>is %1, also where it is not given; only null is implemented for this kind of model</source>
        <translation>est %1, même quand il n’est pas indiqué ; seul null est implémenté pour ce type de modèle</translation>
    </message>
    <message>
        <source>%1: rope_freqs.weight is no list of F32 numbers; the file is damaged or was written by a converter that Belfry does not know</source>
        <translation>%1 : rope_freqs.weight n’est pas une liste de nombres F32 ; le fichier est endommagé ou vient d’un convertisseur que Belfry ne connaît pas</translation>
    </message>
    <message>
        <source>is %1; only none and the tensor rope_freqs.weight (Llama 3.1 and later) are implemented</source>
        <translation>est %1 ; seuls none et le tenseur rope_freqs.weight (Llama 3.1 et suivants) sont implémentés</translation>
    </message>
    <message>
        <source>is %1; windows are not implemented for this architecture</source>
        <translation>est %1 ; les fenêtres ne sont pas implémentées pour cette architecture</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; only default, linear and proportional are known</source>
        <translation>est &quot;%1&quot; ; seuls default, linear et proportional sont connus</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; only nf4 and fp4 are known</source>
        <translation>est &quot;%1&quot; ; seuls nf4 et fp4 sont connus</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;; only silu is implemented</source>
        <translation>est &quot;%1&quot; ; seul silu est possible</translation>
    </message>
    <message>
        <source>is %1 with heads of %2; expected a divisor of num_attention_heads and even heads</source>
        <translation>est %1 avec des têtes de %2 ; attendu : un diviseur de num_attention_heads et des têtes paires</translation>
    </message>
    <message>
        <source>is %1, expected a list of texts</source>
        <translation>est %1, attendu : une liste de textes</translation>
    </message>
    <message>
        <source>is %1, expected a multiple of 4 (rotary halves on two axes)</source>
        <translation>est %1, attendu : un multiple de 4 (moitiés à tourner sur deux axes)</translation>
    </message>
    <message>
        <source>is %1, expected a number from %2 to %3</source>
        <translation>est %1, attendu : un nombre de %2 à %3</translation>
    </message>
    <message>
        <source>is %1, expected a plain file; name another</source>
        <translation>est %1, un fichier ordinaire est attendu ; nommez-en un autre</translation>
    </message>
    <message>
        <source>is %1, expected a text</source>
        <translation>est %1, attendu : un texte</translation>
    </message>
    <message>
        <source>is %1, expected a whole number from %2 to %3</source>
        <translation>est %1, attendu : un nombre entier de %2 à %3</translation>
    </message>
    <message>
        <source>is %1, expected an even multiple of num_attention_heads (%2)</source>
        <translation>est %1, attendu : un multiple pair de num_attention_heads (%2)</translation>
    </message>
    <message>
        <source>is %1, expected an even number (rotary halves)</source>
        <translation>est %1, attendu : un nombre pair (moitiés à tourner)</translation>
    </message>
    <message>
        <source>is %1, expected an object</source>
        <translation>est %1, attendu : un objet</translation>
    </message>
    <message>
        <source>is %1, expected num_attention_heads x head_dim = %2</source>
        <translation>est %1, attendu : num_attention_heads x head_dim = %2</translation>
    </message>
    <message>
        <source>is %1, expected one of 70, 140, 280, 560, 1120</source>
        <translation>est %1, attendu : 70, 140, 280, 560 ou 1120</translation>
    </message>
    <message>
        <source>is %1, expected true or false</source>
        <translation>est %1, attendu : true ou false</translation>
    </message>
    <message>
        <source>is %1, num_experts is only %2</source>
        <translation>est %1, num_experts n’est que %2</translation>
    </message>
    <message>
        <source>is %1, too much for %2 layers</source>
        <translation>est %1, trop pour %2 couches</translation>
    </message>
    <message>
        <source>is %1, vocab_size is %2; every token needs a row</source>
        <translation>est %1, vocab_size est %2 ; chaque jeton a besoin d’une ligne</translation>
    </message>
    <message>
        <source>is %1: %2 shares keys and values, but no layer of its type before layer %3 owns any</source>
        <translation>est %1 : %2 partage clés et valeurs, mais aucune couche de son type avant la couche %3 n’en a</translation>
    </message>
    <message>
        <source>is %1; only %2 is implemented</source>
        <translation>est %1 ; seul %2 est possible</translation>
    </message>
    <message>
        <source>is %1; only as many as num_attention_heads (%2) is implemented</source>
        <translation>est %1 ; seul le même nombre que num_attention_heads (%2) est possible</translation>
    </message>
    <message>
        <source>is %1; only null and &quot;vision&quot; are implemented</source>
        <translation>est %1 ; seuls null et &quot;vision&quot; sont possibles</translation>
    </message>
    <message>
        <source>is a 7-Zip archive; unpack it first</source>
        <translation>est une archive 7-Zip ; décompressez-la d’abord</translation>
    </message>
    <message>
        <source>is a Git LFS pointer, not the file itself; fetch the large files (git lfs pull) or download the model again</source>
        <translation>est un pointeur Git LFS, pas le fichier lui-même ; récupérez les gros fichiers (git lfs pull) ou téléchargez le modèle à nouveau</translation>
    </message>
    <message>
        <source>is a NumPy file; Belfry opens safetensors models</source>
        <translation>est un fichier NumPy ; Belfry ouvre des modèles safetensors</translation>
    </message>
    <message>
        <source>is a Python pickle, which can run code when it is opened, so Belfry never opens one; get the safetensors version of the model or convert it with its maker&apos;s tools</source>
        <translation>est un pickle de Python, qui peut exécuter du code à l’ouverture, aussi Belfry n’en ouvre jamais ; procurez-vous la version safetensors du modèle ou convertissez-le avec les outils de son auteur</translation>
    </message>
    <message>
        <source>is a file; choose the folder that holds the model&apos;s config.json</source>
        <translation>est un fichier ; choisissez le dossier qui contient le config.json du modèle</translation>
    </message>
    <message>
        <source>is a link that leads nowhere (%1); download the file again</source>
        <translation>est un lien qui ne mène nulle part (%1) ; téléchargez le fichier à nouveau</translation>
    </message>
    <message>
        <source>is a link that leads to no file (too many links, or one that cannot be read); name the file itself</source>
        <translation>est un lien qui ne mène à aucun fichier (trop de liens, ou un lien illisible) ; nommez le fichier lui-même</translation>
    </message>
    <message>
        <source>is a link that leaves the model folder; put the file itself into the folder</source>
        <translation>est un lien qui sort du dossier du modèle ; mettez le fichier lui-même dans le dossier</translation>
    </message>
    <message>
        <source>is a link where a regular file is expected</source>
        <translation>est un lien là où un fichier ordinaire est attendu</translation>
    </message>
    <message>
        <source>is a list of %1 entries, expected at most %2</source>
        <translation>est une liste de %1 entrées, attendu : %2 au plus</translation>
    </message>
    <message>
        <source>is a list of more than 65536 entries</source>
        <translation>est une liste de plus de 65536 entrées</translation>
    </message>
    <message>
        <source>is a list, expected an object</source>
        <translation>est une liste, attendu : un objet</translation>
    </message>
    <message>
        <source>is a pipe that no program reads; start the reader first, or name a file</source>
        <translation>est un tube qu’aucun programme ne lit ; démarrez d’abord le lecteur, ou nommez un fichier</translation>
    </message>
    <message>
        <source>is a terminal; name a file</source>
        <translation>est un terminal ; nommez un fichier</translation>
    </message>
    <message>
        <source>is a web page, not a model file; the download probably failed (a login page?), try it again</source>
        <translation>est une page web, pas un fichier de modèle ; le téléchargement a sans doute échoué (une page de connexion ?), réessayez</translation>
    </message>
    <message>
        <source>is a zip archive (PyTorch saves pickles this way), which can run code when it is opened, so Belfry never opens one; get the safetensors version of the model</source>
        <translation>est une archive zip (PyTorch enregistre ainsi ses pickles), qui peut exécuter du code à l’ouverture, aussi Belfry n’en ouvre jamais ; procurez-vous la version safetensors du modèle</translation>
    </message>
    <message>
        <source>is an HDF5 file (Keras); Belfry opens safetensors models</source>
        <translation>est un fichier HDF5 (Keras) ; Belfry ouvre des modèles safetensors</translation>
    </message>
    <message>
        <source>is an old GGML file; get the model as safetensors or GGUF</source>
        <translation>est un ancien fichier GGML ; obtenez le modèle en safetensors ou GGUF</translation>
    </message>
    <message>
        <source>is compressed (gzip); unpack it first</source>
        <translation>est comprimé (gzip) ; décompressez-le d’abord</translation>
    </message>
    <message>
        <source>is compressed (xz); unpack it first</source>
        <translation>est comprimé (xz) ; décompressez-le d’abord</translation>
    </message>
    <message>
        <source>is compressed (zstd); unpack it first</source>
        <translation>est comprimé (zstd) ; décompressez-le d’abord</translation>
    </message>
    <message>
        <source>is false; pictures are always scaled to 0..1</source>
        <translation>est false ; les images sont toujours ramenées à 0..1</translation>
    </message>
    <message>
        <source>is missing, and its published value lies outside the vocabulary of %1; the model has %2</source>
        <translation>manque, et sa valeur publiée est hors du vocabulaire de %1 ; le modèle a %2</translation>
    </message>
    <message>
        <source>is missing, and so is architectures; is this the config.json of a model?</source>
        <translation>manque, et architectures aussi ; est-ce le config.json d’un modèle ?</translation>
    </message>
    <message>
        <source>is missing, expected a whole number from %1 to %2</source>
        <translation>manque, attendu : un nombre entier de %1 à %2</translation>
    </message>
    <message>
        <source>is missing, expected an object</source>
        <translation>manque, attendu : un objet</translation>
    </message>
    <message>
        <source>is missing; expected &quot;LORA&quot;. Is this an adapter folder?</source>
        <translation>manque ; attendu : &quot;LORA&quot;. Est-ce un dossier d’adaptateur ?</translation>
    </message>
    <message>
        <source>is named in %1 but is not in the folder; download it. It holds %2</source>
        <translation>est nommé dans %1 mais n’est pas dans le dossier ; téléchargez-le. Il contient %2</translation>
    </message>
    <message>
        <source>is not 0; only causal audio is implemented</source>
        <translation>n’est pas 0 ; seul l’audio causal est possible</translation>
    </message>
    <message>
        <source>is not 1 with rope_type &quot;%1&quot;; only proportional tables may be partial</source>
        <translation>n’est pas 1 avec rope_type &quot;%1&quot; ; seules les tables proportional peuvent être partielles</translation>
    </message>
    <message>
        <source>is not a layer index from 0 to %1</source>
        <translation>n’est pas un numéro de couche de 0 à %1</translation>
    </message>
    <message>
        <source>is not a plain file</source>
        <translation>n’est pas un fichier ordinaire</translation>
    </message>
    <message>
        <source>is not a plain file (it is a folder, a pipe, a socket or a device)</source>
        <translation>n’est pas un fichier ordinaire (c’est un dossier, un tube, un socket ou un périphérique)</translation>
    </message>
    <message>
        <source>is not a plain file any more; name another</source>
        <translation>n’est plus un fichier ordinaire ; nommez-en un autre</translation>
    </message>
    <message>
        <source>is not a regular file</source>
        <translation>n’est pas un fichier ordinaire</translation>
    </message>
    <message>
        <source>is not a regular file (it is a folder, a pipe, a socket or a device)</source>
        <translation>n’est pas un fichier ordinaire (c’est un dossier, un tube, un socket ou un périphérique)</translation>
    </message>
    <message>
        <source>is not in the folder, and neither is %1; choose the folder that holds a Hugging Face model</source>
        <translation>n’est pas dans le dossier, et %1 non plus ; choisissez le dossier qui contient un modèle Hugging Face</translation>
    </message>
    <message>
        <source>is not in the folder, but %1 is; if it holds the whole model, rename it to model.safetensors, else download the other files and %2</source>
        <translation>n’est pas dans le dossier, mais %1 y est ; s’il contient le modèle entier, renommez-le en model.safetensors, sinon téléchargez les autres fichiers et %2</translation>
    </message>
    <message>
        <source>is not in the folder, but %1 weight files are (%2, ...); it says which tensor is in which of them. Download it too</source>
        <translation>n’est pas dans le dossier, mais %1 fichiers de poids y sont (%2, ...) ; il dit quel tenseur est dans lequel. Téléchargez-le aussi</translation>
    </message>
    <message>
        <source>is not in the folder, but adapter_config.json is: this is an adapter; open its base model and add the adapter to it</source>
        <translation>n’est pas dans le dossier, mais adapter_config.json y est : c’est un adaptateur ; ouvrez son modèle de base et ajoutez-lui l’adaptateur</translation>
    </message>
    <message>
        <source>is not the name of a file; name one</source>
        <translation>n’est pas un nom de fichier ; donnez-en un</translation>
    </message>
    <message>
        <source>is set: %1</source>
        <translation>est défini : %1</translation>
    </message>
    <message>
        <source>is set; normalization per mel bin is not implemented</source>
        <translation>est défini ; la normalisation par bande mel n’existe pas ici</translation>
    </message>
    <message>
        <source>is true together with load_in_4bit</source>
        <translation>est true en même temps que load_in_4bit</translation>
    </message>
    <message>
        <source>is true with a mean other than 0 or a deviation other than 1; that is not implemented</source>
        <translation>est true avec une moyenne autre que 0 ou un écart autre que 1 ; cela n’existe pas ici</translation>
    </message>
    <message>
        <source>is true; 8-bit (LLM.int8) checkpoints cannot be read, 4-bit and unquantized ones can</source>
        <translation>est true ; les checkpoints 8 bits (LLM.int8) ne peuvent pas être lus, ceux de 4 bits et les non quantifiés le peuvent</translation>
    </message>
    <message>
        <source>is true; attention biases are not implemented</source>
        <translation>est true ; les biais d’attention n’existent pas ici</translation>
    </message>
    <message>
        <source>is true; biases are not implemented</source>
        <translation>est true ; les biais n’existent pas ici</translation>
    </message>
    <message>
        <source>it has %1 bytes, its shape and type need %2</source>
        <translation>il a %1 octets, sa forme et son type en demandent %2</translation>
    </message>
    <message>
        <source>it has been downloaded to %1; give that</source>
        <translation>il a été téléchargé dans %1 ; donnez cela</translation>
    </message>
    <message>
        <source>it has more than 8 dimensions</source>
        <translation>il a plus de 8 dimensions</translation>
    </message>
    <message>
        <source>it has no element type or no data</source>
        <translation>il n’a pas de type d’éléments ou pas de données</translation>
    </message>
    <message>
        <source>it uses an unknown feature</source>
        <translation>il utilise une fonction inconnue</translation>
    </message>
    <message>
        <source>its %1 bits do not fill whole bytes</source>
        <translation>ses %1 bits ne remplissent pas des octets entiers</translation>
    </message>
    <message>
        <source>its data_offsets are %1 to %2, expected a range that begins at %3 (no holes, no overlaps)</source>
        <translation>ses data_offsets vont de %1 à %2, attendu : une plage qui commence à %3 (sans trous ni recouvrements)</translation>
    </message>
    <message>
        <source>its folder cannot be opened: %1</source>
        <translation>son dossier ne peut pas être ouvert : %1</translation>
    </message>
    <message>
        <source>its header length is %1 bytes, at most 100000000 are allowed; is this a safetensors file?</source>
        <translation>la longueur de son en-tête est de %1 octets, 100000000 au plus sont permis ; est-ce un fichier safetensors ?</translation>
    </message>
    <message>
        <source>its header should have %1 bytes, but the file has %2 in all; it was cut short, download it again</source>
        <translation>son en-tête devrait avoir %1 octets, mais le fichier en a %2 en tout ; il a été coupé, téléchargez-le à nouveau</translation>
    </message>
    <message>
        <source>its size does not fit 64 bits</source>
        <translation>sa taille ne tient pas dans 64 bits</translation>
    </message>
    <message>
        <source>its size is out of range</source>
        <translation>sa taille est hors limites</translation>
    </message>
    <message>
        <source>layer %1</source>
        <translation>la couche %1</translation>
    </message>
    <message>
        <source>letters outside of ASCII together with (?i)</source>
        <translation>des lettres hors de l’ASCII avec (?i)</translation>
    </message>
    <message>
        <source>limit for %1: expected cpu, cuda:N or sim:N</source>
        <translation>limite pour %1 : attendu cpu, cuda:N ou sim:N</translation>
    </message>
    <message>
        <source>lm_head.weight: config.json says that the output head is not the token embedding (&quot;tie_word_embeddings&quot;: false), and the weight files hold no lm_head.weight; get the file that holds it, or say true there if the model has one table for both</source>
        <translation>lm_head.weight : config.json dit que la tête de sortie n’est pas le plongement des jetons (&quot;tie_word_embeddings&quot;: false), et les fichiers de poids ne contiennent pas lm_head.weight ; procurez-vous le fichier qui le contient, ou mettez true si le modèle a une seule table pour les deux</translation>
    </message>
    <message>
        <source>loading %1 needed more memory than the system gave; close other programs, or choose a smaller context or a smaller format</source>
        <translation>le chargement de %1 a demandé plus de mémoire que le système n’en donne ; fermez d’autres programmes, ou choisissez un contexte plus petit ou un format plus petit</translation>
    </message>
    <message>
        <source>loading the adapter was cancelled</source>
        <translation>le chargement de l’adaptateur a été annulé</translation>
    </message>
    <message>
        <source>loading was cancelled; nothing was changed</source>
        <translation>le chargement a été annulé ; rien n’a été changé</translation>
    </message>
    <message>
        <source>logits of the last %1 tokens were asked for; the prompt has %2</source>
        <translation>les logits des %1 derniers jetons ont été demandés ; l’invite en a %2</translation>
    </message>
    <message>
        <source>lone surrogate in a \u escape</source>
        <translation>demi-paire de substitution dans un échappement \u</translation>
    </message>
    <message>
        <source>lora_B.bias of the module is missing (lora_bias is true)</source>
        <translation>lora_B.bias du module manque (lora_bias est true)</translation>
    </message>
    <message>
        <source>lora_bias is true, which PEFT does not have for embeddings</source>
        <translation>lora_bias est true, ce que PEFT n’a pas pour les plongements</translation>
    </message>
    <message>
        <source>lora_bias is true, which PEFT does not have for experts</source>
        <translation>lora_bias est true, ce que PEFT n’a pas pour les experts</translation>
    </message>
    <message>
        <source>lora_magnitude_vector of the module is missing (use_dora is true)</source>
        <translation>lora_magnitude_vector du module manque (use_dora est true)</translation>
    </message>
    <message>
        <source>lossless</source>
        <translation>sans perte</translation>
    </message>
    <message>
        <source>malformed \u escape</source>
        <translation>échappement \u mal formé</translation>
    </message>
    <message>
        <source>malformed number</source>
        <translation>nombre mal formé</translation>
    </message>
    <message>
        <source>merging was cancelled</source>
        <translation>la fusion a été annulée</translation>
    </message>
    <message>
        <source>message %1: %2</source>
        <translation>message %1 : %2</translation>
    </message>
    <message>
        <source>message 1: a system message holds text only; put images and audio into a user message</source>
        <translation>message 1 : un message système ne contient que du texte ; mettez images et sons dans un message de l’utilisateur</translation>
    </message>
    <message>
        <source>model.%1: expected null, found %2</source>
        <translation>model.%1 : attendu null, trouvé %2</translation>
    </message>
    <message>
        <source>model.byte_fallback: expected %1, found %2</source>
        <translation>model.byte_fallback : attendu %1, trouvé %2</translation>
    </message>
    <message>
        <source>model.dropout: expected null, found %1; random tokens are for training</source>
        <translation>model.dropout : attendu null, trouvé %1 ; les jetons aléatoires sont pour l’entraînement</translation>
    </message>
    <message>
        <source>model.ignore_merges: expected false, found %1</source>
        <translation>model.ignore_merges : attendu false, trouvé %1</translation>
    </message>
    <message>
        <source>model.merges has more than %1 entries</source>
        <translation>model.merges a plus de %1 entrées</translation>
    </message>
    <message>
        <source>model.merges is missing or not an array</source>
        <translation>model.merges manque ou n’est pas un tableau</translation>
    </message>
    <message>
        <source>model.merges: entry %1 holds %2, expected two strings</source>
        <translation>model.merges : l’entrée %1 contient %2, attendu : deux chaînes</translation>
    </message>
    <message>
        <source>model.merges: entry %1 holds more than two strings</source>
        <translation>model.merges : l’entrée %1 contient plus de deux chaînes</translation>
    </message>
    <message>
        <source>model.merges: entry %1 makes %2, which is not in the vocabulary</source>
        <translation>model.merges : l’entrée %1 forme %2, qui n’est pas dans le vocabulaire</translation>
    </message>
    <message>
        <source>model.merges: entry %1 names %2, which is not in the vocabulary</source>
        <translation>model.merges : l’entrée %1 nomme %2, qui n’est pas dans le vocabulaire</translation>
    </message>
    <message>
        <source>model.merges: entry %1 names a token of %2 bytes, expected 1 to %3</source>
        <translation>model.merges : l’entrée %1 nomme un jeton de %2 octets, attendu : 1 à %3</translation>
    </message>
    <message>
        <source>model.merges: entry %1 repeats %2 %3</source>
        <translation>model.merges : l’entrée %1 répète %2 %3</translation>
    </message>
    <message>
        <source>model.unk_token: expected a token of the vocabulary, found %1</source>
        <translation>model.unk_token : attendu un jeton du vocabulaire, trouvé %1</translation>
    </message>
    <message>
        <source>model.vocab has more than %1 entries</source>
        <translation>model.vocab a plus de %1 entrées</translation>
    </message>
    <message>
        <source>model.vocab has no byte token %1; byte_fallback needs all 256</source>
        <translation>model.vocab n’a pas de jeton d’octet %1 ; byte_fallback a besoin des 256</translation>
    </message>
    <message>
        <source>model.vocab is an array, as other kinds of tokenizer write it; expected an object of tokens and ids</source>
        <translation>model.vocab est un tableau, comme l’écrivent d’autres sortes de tokenizer ; attendu : un objet de jetons et de numéros</translation>
    </message>
    <message>
        <source>model.vocab is missing or not an object</source>
        <translation>model.vocab manque ou n’est pas un objet</translation>
    </message>
    <message>
        <source>model.vocab: %1 has two ids: %2 and %3</source>
        <translation>model.vocab : %1 a deux numéros : %2 et %3</translation>
    </message>
    <message>
        <source>model.vocab: the id of %1 is %2, but there are %3 entries and ids run from 0 without a gap</source>
        <translation>model.vocab : le numéro de %1 est %2, mais il y a %3 entrées et les numéros vont de 0 sans trou</translation>
    </message>
    <message>
        <source>model.vocab: the id of %1 is %2, expected a whole number</source>
        <translation>model.vocab : le numéro de %1 est %2, attendu : un nombre entier</translation>
    </message>
    <message>
        <source>model.vocab: the id of %1 is %2, expected a whole number from 0 to %3</source>
        <translation>model.vocab : le numéro de %1 est %2, attendu : un nombre entier de 0 à %3</translation>
    </message>
    <message>
        <source>model.vocab: the token %1 has %2 bytes, expected 1 to %3</source>
        <translation>model.vocab : le jeton %1 a %2 octets, attendu : 1 à %3</translation>
    </message>
    <message>
        <source>model: expected an object, found %1</source>
        <translation>model : attendu un objet, trouvé %1</translation>
    </message>
    <message>
        <source>model: expected type &quot;BPE&quot;, found %1</source>
        <translation>model : attendu le type &quot;BPE&quot;, trouvé %1</translation>
    </message>
    <message>
        <source>more</source>
        <translation>davantage</translation>
    </message>
    <message>
        <source>more media are attached than the ids have placeholders for</source>
        <translation>il y a plus de médias joints que les numéros n’ont d’emplacements</translation>
    </message>
    <message>
        <source>more than %1 values</source>
        <translation>plus de %1 valeurs</translation>
    </message>
    <message>
        <source>more than %1 values outside of the vocabulary and the merges</source>
        <translation>plus de %1 valeurs hors du vocabulaire et de merges</translation>
    </message>
    <message>
        <source>move parts of it</source>
        <translation>en déplacer des parties</translation>
    </message>
    <message>
        <source>names %1, which modules_to_save replaces as a whole</source>
        <translation>nomme %1, que modules_to_save remplace en entier</translation>
    </message>
    <message>
        <source>names layer %1 a second time (leading zeros do not count)</source>
        <translation>nomme la couche %1 une seconde fois (les zéros de tête ne comptent pas)</translation>
    </message>
    <message>
        <source>names more than 500 shards</source>
        <translation>nomme plus de 500 morceaux</translation>
    </message>
    <message>
        <source>names more than 64 modules</source>
        <translation>nomme plus de 64 modules</translation>
    </message>
    <message>
        <source>needs layers_to_transform beside it</source>
        <translation>a besoin de layers_to_transform à côté</translation>
    </message>
    <message>
        <source>nested deeper than %1 levels</source>
        <translation>imbriqué sur plus de %1 niveaux</translation>
    </message>
    <message>
        <source>nested_blocksize, nested_dtype and nested_offset together or none of them; %1 is absent</source>
        <translation>nested_blocksize, nested_dtype et nested_offset ensemble ou aucun d’eux ; %1 est absent</translation>
    </message>
    <message>
        <source>no adapter with id %1</source>
        <translation>pas d’adaptateur de numéro %1</translation>
    </message>
    <message>
        <source>no host memory for %1 bytes of rows on their way to a GPU; lower the prefill chunk</source>
        <translation>pas de mémoire hôte pour %1 octets de lignes en route vers un GPU ; lisez les invites par morceaux plus petits</translation>
    </message>
    <message>
        <source>no key .%1</source>
        <translation>pas de clé .%1</translation>
    </message>
    <message>
        <source>no key .SCB</source>
        <translation>pas de clé .SCB</translation>
    </message>
    <message>
        <source>no memory for %1 read buffers of %2 bytes; close other programs</source>
        <translation>pas de mémoire pour %1 tampons de lecture de %2 octets ; fermez d’autres programmes</translation>
    </message>
    <message>
        <source>no memory is left to read %1; close other programs or move parts of the model to another device, then send it again</source>
        <translation>il ne reste pas de mémoire pour lire ceci : %1 ; fermez d’autres programmes ou déplacez des parties du modèle sur un autre appareil, puis renvoyez-le</translation>
    </message>
    <message>
        <source>no memory to hold %1 while tensors change places</source>
        <translation>pas de mémoire pour garder %1 pendant que des tenseurs changent de place</translation>
    </message>
    <message>
        <source>no memory to read the weights; close other programs</source>
        <translation>pas de mémoire pour lire les poids ; fermez d’autres programmes</translation>
    </message>
    <message>
        <source>no model folder was given</source>
        <translation>aucun dossier de modèle n’a été donné</translation>
    </message>
    <message>
        <source>no model is loaded</source>
        <translation>aucun modèle n’est chargé</translation>
    </message>
    <message>
        <source>no nested keys, since the state has none</source>
        <translation>pas de clés imbriquées, puisque l’état n’en a pas</translation>
    </message>
    <message>
        <source>no room for %1 bytes of the adapter (%2): %3 bytes are in use</source>
        <translation>pas de place pour %1 octets de l’adaptateur (%2) : %3 octets sont occupés</translation>
    </message>
    <message>
        <source>no room for %1 bytes of the adapter (%2): %3 bytes are in use of %4</source>
        <translation>pas de place pour %1 octets de l’adaptateur (%2) : %3 octets sur %4 sont occupés</translation>
    </message>
    <message>
        <source>no such tensor</source>
        <translation>pas de tel tenseur</translation>
    </message>
    <message>
        <source>none</source>
        <translation>rien</translation>
    </message>
    <message>
        <source>normalizer: expected none in a byte-level file, found %1</source>
        <translation>normalizer : aucun attendu dans un fichier au niveau des octets, trouvé %1</translation>
    </message>
    <message>
        <source>normalizer: expected Replace of a space by U+2581, alone or behind Prepend of one, found %1</source>
        <translation>normalizer : attendu Replace d’une espace par U+2581, seul ou derrière Prepend d’un tel signe, trouvé %1</translation>
    </message>
    <message>
        <source>normalizer: Prepend is not implemented beside added tokens that match in normalized text, as %1 does</source>
        <translation>normalizer : Prepend n’est pas possible à côté de jetons ajoutés qui valent dans le texte normalisé, comme %1</translation>
    </message>
    <message>
        <source>not UTF-8</source>
        <translation>pas de l’UTF-8</translation>
    </message>
    <message>
        <source>not a Jinja template: %1</source>
        <translation>pas un modèle Jinja : %1</translation>
    </message>
    <message>
        <source>not a valid pattern: &quot;%1&quot; (%2)</source>
        <translation>motif invalide : &quot;%1&quot; (%2)</translation>
    </message>
    <message>
        <source>not enough memory</source>
        <translation>pas assez de mémoire</translation>
    </message>
    <message>
        <source>not valid JSON: %1</source>
        <translation>pas du JSON valide : %1</translation>
    </message>
    <message>
        <source>not valid JSON: %1 (at byte %2)</source>
        <translation>pas du JSON valide : %1 (à l’octet %2)</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>rien</translation>
    </message>
    <message>
        <source>nothing can be heard at %1 s: the recording ends before, or is damaged there</source>
        <translation>rien ne s’entend à %1 s : l’enregistrement finit avant, ou y est endommagé</translation>
    </message>
    <message>
        <source>nothing to merge: no adapter was given</source>
        <translation>rien à fusionner : aucun adaptateur n’a été donné</translation>
    </message>
    <message>
        <source>nothing to repeat</source>
        <translation>rien à répéter</translation>
    </message>
    <message>
        <source>null</source>
        <translation>null</translation>
    </message>
    <message>
        <source>one U8</source>
        <translation>un U8</translation>
    </message>
    <message>
        <source>one key .quant_state.bitsandbytes__nf4 or __fp4</source>
        <translation>une clé .quant_state.bitsandbytes__nf4 ou __fp4</translation>
    </message>
    <message>
        <source>opening the model was cancelled</source>
        <translation>l’ouverture du modèle a été annulée</translation>
    </message>
    <message>
        <source>out of memory</source>
        <translation>plus de mémoire</translation>
    </message>
    <message>
        <source>packed codes</source>
        <translation>des codes compactés</translation>
    </message>
    <message>
        <source>patch size %1 with pooling %2: both must be from 1 to %3</source>
        <translation>taille de carreau %1 avec regroupement %2 : les deux doivent être de 1 à %3</translation>
    </message>
    <message>
        <source>pictures</source>
        <translation>les images</translation>
    </message>
    <message>
        <source>placing the adapter was cancelled</source>
        <translation>le placement de l’adaptateur a été annulé</translation>
    </message>
    <message>
        <source>post_processor: %1 has the id %2, expected a token from 0 to %3</source>
        <translation>post_processor : %1 a le numéro %2, attendu : un jeton de 0 à %3</translation>
    </message>
    <message>
        <source>post_processor: single has no place for the text</source>
        <translation>post_processor : single n’a pas de place pour le texte</translation>
    </message>
    <message>
        <source>post_processor: single holds a step that is neither a special token nor the one text</source>
        <translation>post_processor : single contient une étape qui n’est ni un jeton spécial ni l’unique texte</translation>
    </message>
    <message>
        <source>post_processor: single is not an array</source>
        <translation>post_processor : single n’est pas un tableau</translation>
    </message>
    <message>
        <source>post_processor: special_tokens gives no ids for %1</source>
        <translation>post_processor : special_tokens ne donne pas de numéros pour %1</translation>
    </message>
    <message>
        <source>pre_tokenizer: expected ByteLevel without a prefix space, behind a few steps Digits and Split by the expression of GPT-2 or Llama 3, found %1 as one of %2 steps</source>
        <translation>pre_tokenizer : attendu ByteLevel sans espace initiale, derrière quelques étapes Digits et Split par l’expression de GPT-2 ou de Llama 3, trouvé %1 comme l’une de %2 étapes</translation>
    </message>
    <message>
        <source>pre_tokenizer: expected none, or Split on a space merged with the previous piece, found %1</source>
        <translation>pre_tokenizer : attendu aucun, ou Split sur une espace jointe au morceau précédent, trouvé %1</translation>
    </message>
    <message>
        <source>puts the tensor %1 into %2, but that file does not hold it; the files belong to different downloads</source>
        <translation>met le tenseur %1 dans %2, mais ce fichier ne le contient pas ; les fichiers viennent de téléchargements différents</translation>
    </message>
    <message>
        <source>range() of this form</source>
        <translation>range() sous cette forme</translation>
    </message>
    <message>
        <source>rank %1 is outside 1 to %2</source>
        <translation>le rang %1 est hors de 1 à %2</translation>
    </message>
    <message>
        <source>rank %1 of %2 experts, %3 is %4</source>
        <translation>rang %1 de %2 experts, %3 est %4</translation>
    </message>
    <message>
        <source>rank %1, %2 is %3</source>
        <translation>rang %1, %2 est %3</translation>
    </message>
    <message>
        <source>reading %1 back from its device failed</source>
        <translation>la relecture de %1 depuis son appareil a échoué</translation>
    </message>
    <message>
        <source>reading %1 needed more memory than the system gave; close other programs, or choose a smaller context or a smaller format</source>
        <translation>la lecture de %1 a demandé plus de mémoire que le système n’en donne ; fermez d’autres programmes, ou choisissez un contexte plus petit ou un format plus petit</translation>
    </message>
    <message>
        <source>reading at byte %1 failed: %2</source>
        <translation>la lecture à l’octet %1 a échoué : %2</translation>
    </message>
    <message>
        <source>reading rows of %1 from %2 failed</source>
        <translation>la lecture de lignes de %1 sur %2 a échoué</translation>
    </message>
    <message>
        <source>reading stopped after %1 of %2</source>
        <translation>la lecture s’est arrêtée après %1 sur %2</translation>
    </message>
    <message>
        <source>reading the recording was stopped</source>
        <translation>la lecture de l’enregistrement a été arrêtée</translation>
    </message>
    <message>
        <source>reading weights back from a device failed</source>
        <translation>la relecture de poids depuis un appareil a échoué</translation>
    </message>
    <message>
        <source>recordings</source>
        <translation>les enregistrements</translation>
    </message>
    <message>
        <source>renaming the finished file failed: %1</source>
        <translation>le renommage du fichier terminé a échoué : %1</translation>
    </message>
    <message>
        <source>repeats layers and so changes the architecture of the base</source>
        <translation>répète des couches et change ainsi l’architecture de la base</translation>
    </message>
    <message>
        <source>replaced rows together with a low-rank update of the same embedding are not supported</source>
        <translation>des lignes remplacées avec une mise à jour de rang faible du même plongement n’existent pas ici</translation>
    </message>
    <message>
        <source>replaced rows together with a replaced table of the same embedding are not supported</source>
        <translation>des lignes remplacées avec une table remplacée du même plongement n’existent pas ici</translation>
    </message>
    <message>
        <source>replaces token %1, the vocabulary has %2</source>
        <translation>remplace le jeton %1, le vocabulaire en a %2</translation>
    </message>
    <message>
        <source>room for factors that travel</source>
        <translation>place pour les facteurs qui voyagent</translation>
    </message>
    <message>
        <source>routing between adapters (Arrow) is not implemented</source>
        <translation>le choix entre adaptateurs (Arrow) n’existe pas ici</translation>
    </message>
    <message>
        <source>sample %1 of channel %2 is %3, expected a number between -1 and 1; save the recording again with normal volume</source>
        <translation>l’échantillon %1 du canal %2 est %3, attendu : un nombre entre -1 et 1 ; enregistrez à nouveau avec un volume normal</translation>
    </message>
    <message>
        <source>sample %1 of the clip is not a number</source>
        <translation>l’échantillon %1 de l’extrait n’est pas un nombre</translation>
    </message>
    <message>
        <source>sampling option %1: expected %2, found %3</source>
        <translation>option %1 : attendu %2, trouvé %3</translation>
    </message>
    <message>
        <source>shape %1, expected %2 (%3)</source>
        <translation>forme %1, attendu : %2 (%3)</translation>
    </message>
    <message>
        <source>shape and dtype need %1 bytes, data_offsets %2 to %3 give %4</source>
        <translation>shape et dtype demandent %1 octets, data_offsets %2 à %3 en donnent %4</translation>
    </message>
    <message>
        <source>shape is %1, expected a list</source>
        <translation>shape est %1, attendu : une liste</translation>
    </message>
    <message>
        <source>shape:%1: has random weights and no %2; give a model folder</source>
        <translation>shape:%1 : a des poids aléatoires et pas de %2 ; donnez un dossier de modèle</translation>
    </message>
    <message>
        <source>single characters of a text that is not ASCII</source>
        <translation>des caractères isolés d’un texte qui n’est pas ASCII</translation>
    </message>
    <message>
        <source>something else</source>
        <translation>autre chose</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>arrêté</translation>
    </message>
    <message>
        <source>stopped by the user</source>
        <translation>arrêté par l’utilisateur</translation>
    </message>
    <message>
        <source>string longer than %1 bytes</source>
        <translation>chaîne plus longue que %1 octets</translation>
    </message>
    <message>
        <source>take adapters</source>
        <translation>prendre des adaptateurs</translation>
    </message>
    <message>
        <source>take pictures and sounds</source>
        <translation>prendre des images et des sons</translation>
    </message>
    <message>
        <source>tensor %1 has %2 bytes, bytes %3 to %4 were asked for</source>
        <translation>le tenseur %1 a %2 octets, les octets %3 à %4 ont été demandés</translation>
    </message>
    <message>
        <source>tensor %1 is described by %2, expected an object</source>
        <translation>le tenseur %1 est décrit par %2, attendu : un objet</translation>
    </message>
    <message>
        <source>tensor %1: %2</source>
        <translation>tenseur %1 : %2</translation>
    </message>
    <message>
        <source>text</source>
        <translation>du texte</translation>
    </message>
    <message>
        <source>text after the end of the JSON value</source>
        <translation>du texte après la fin de la valeur JSON</translation>
    </message>
    <message>
        <source>the %1 data is damaged after %2 seconds: %3</source>
        <translation>les données %1 sont endommagées après %2 secondes : %3</translation>
    </message>
    <message>
        <source>the %1 data is truncated or damaged: %2 samples are declared, %3 could be read</source>
        <translation>les données %1 sont tronquées ou endommagées : %2 échantillons sont déclarés, %3 ont pu être lus</translation>
    </message>
    <message>
        <source>the %1 file cannot be opened: %2</source>
        <translation>le fichier %1 ne peut pas être ouvert : %2</translation>
    </message>
    <message>
        <source>the %1 file holds no samples</source>
        <translation>le fichier %1 ne contient pas d’échantillons</translation>
    </message>
    <message>
        <source>the %1 file holds no samples that can be read</source>
        <translation>le fichier %1 ne contient pas d’échantillons lisibles</translation>
    </message>
    <message>
        <source>the %1 file holds no samples: it declares %2 bytes of them, %3 follow</source>
        <translation>le fichier %1 ne contient pas d’échantillons : il en déclare %2 octets, %3 suivent</translation>
    </message>
    <message>
        <source>the KV cache can move between devices but not change its context, chunk or type; start a new cache for that</source>
        <translation>le cache KV peut passer d’un appareil à l’autre mais pas changer de contexte, de morceau ou de type ; commencez un nouveau cache pour cela</translation>
    </message>
    <message>
        <source>the adapter acts only after an invocation sequence (aLoRA), which is not implemented</source>
        <translation>l’adaptateur n’agit qu’après une séquence d’appel (aLoRA), ce qui n’existe pas ici</translation>
    </message>
    <message>
        <source>the adapter at %1</source>
        <translation>l’adaptateur à %1</translation>
    </message>
    <message>
        <source>the adapter was made for another model</source>
        <translation>l’adaptateur a été fait pour un autre modèle</translation>
    </message>
    <message>
        <source>the bit stream is damaged</source>
        <translation>le flux de bits est endommagé</translation>
    </message>
    <message>
        <source>the cache folder %1 does not exist and cannot be created</source>
        <translation>le dossier %1 des copies quantifiées n’existe pas et ne peut pas être créé</translation>
    </message>
    <message>
        <source>the cache folder %1 does not exist and cannot be created: %2</source>
        <translation>le dossier %1 des copies quantifiées n’existe pas et ne peut pas être créé : %2</translation>
    </message>
    <message>
        <source>the cache folder %1 is a file, not a folder: name another</source>
        <translation>le dossier %1 des copies quantifiées est un fichier, pas un dossier : nommez-en un autre</translation>
    </message>
    <message>
        <source>the chat has no message; give at least one</source>
        <translation>la conversation n’a pas de message ; donnez-en au moins un</translation>
    </message>
    <message>
        <source>the context is full: %1 tokens are held, %2 more do not fit into %3; start a new chat, or reload with a larger --context</source>
        <translation>le contexte est plein : il contient %1 jetons, %2 de plus ne tiennent pas dans %3 ; commencez une nouvelle conversation, ou rechargez avec un --context plus grand</translation>
    </message>
    <message>
        <source>the demo model is not installed beside this program; give a model folder</source>
        <translation>le modèle de démonstration n’est pas installé à côté de ce programme ; donnez un dossier de modèle</translation>
    </message>
    <message>
        <source>the disk of the cache folder has only %1 MiB left, the weight cache needs %2 MiB</source>
        <translation>le disque des copies quantifiées n’a plus que %1 MiB libres, la copie demande %2 MiB</translation>
    </message>
    <message>
        <source>the engine that runs this model cannot %1; load the model on this computer for that</source>
        <translation>le moteur qui fait tourner ce modèle ne peut pas %1 ; chargez le modèle sur cet ordinateur pour cela</translation>
    </message>
    <message>
        <source>the escape \%1 inside a class</source>
        <translation>l’échappement \%1 dans une classe</translation>
    </message>
    <message>
        <source>the file has %1 bytes, at most %2 are read</source>
        <translation>le fichier a %1 octets, %2 au plus sont lus</translation>
    </message>
    <message>
        <source>the file has %1, at most %2 are read; give a smaller version of it</source>
        <translation>le fichier a %1, %2 au plus sont lus ; donnez-en une version plus petite</translation>
    </message>
    <message>
        <source>the file is truncated</source>
        <translation>le fichier est tronqué</translation>
    </message>
    <message>
        <source>the file name holds &apos;:&apos; (a drive letter or an alternate stream)</source>
        <translation>le nom de fichier contient &apos;:&apos; (une lettre de lecteur ou un flux alternatif)</translation>
    </message>
    <message>
        <source>the file name holds a control character</source>
        <translation>le nom de fichier contient un caractère de contrôle</translation>
    </message>
    <message>
        <source>the file name holds a folder separator; files must lie in the model folder itself</source>
        <translation>le nom de fichier contient un séparateur de dossiers ; les fichiers doivent être dans le dossier du modèle lui-même</translation>
    </message>
    <message>
        <source>the file name is a device name on Windows</source>
        <translation>le nom de fichier est un nom de périphérique sous Windows</translation>
    </message>
    <message>
        <source>the file name is a folder reference</source>
        <translation>le nom de fichier désigne un dossier</translation>
    </message>
    <message>
        <source>the file name is empty</source>
        <translation>le nom de fichier est vide</translation>
    </message>
    <message>
        <source>the file name is longer than 255 bytes</source>
        <translation>le nom de fichier a plus de 255 octets</translation>
    </message>
    <message>
        <source>the file name is not UTF-8</source>
        <translation>le nom de fichier n’est pas de l’UTF-8</translation>
    </message>
    <message>
        <source>the files do not hold this tensor; in its place they have %1, which the architecture does not: they come from another program or from another version of the model. Use the model&apos;s original files</source>
        <translation>les fichiers ne contiennent pas ce tenseur ; à sa place ils ont %1, que l’architecture n’a pas : ils viennent d’un autre programme ou d’une autre version du modèle. Prenez les fichiers d’origine du modèle</translation>
    </message>
    <message>
        <source>the files hold %1 in its place: %2, which cannot be read; use the 16-bit model or a bitsandbytes 4-bit one</source>
        <translation>les fichiers contiennent %1 à sa place : %2, ce qui ne peut pas être lu ; prenez le modèle 16 bits ou un modèle 4 bits de bitsandbytes</translation>
    </message>
    <message>
        <source>the files hold a PEFT model with its adapter beside the base (%1, %2): running the base alone would leave the adapter out. Merge it (merge_and_unload) and save the model, or save the adapter by itself and add it to the base model</source>
        <translation>les fichiers contiennent un modèle PEFT avec son adaptateur à côté de la base (%1, %2) : faire tourner la base seule laisserait l’adaptateur de côté. Fusionnez-le (merge_and_unload) et enregistrez le modèle, ou enregistrez l’adaptateur à part et ajoutez-le au modèle de base</translation>
    </message>
    <message>
        <source>the files hold it as %1 (%2 tensors have names that begin with &quot;%3&quot;), as a program saved it that had put the model into one of its own; save it from the model itself, or rename the tensors: &quot;%3&quot; to &quot;%4&quot;</source>
        <translation>les fichiers le contiennent sous le nom %1 (%2 tenseurs ont un nom qui commence par &quot;%3&quot;), comme l’a enregistré un programme qui avait mis le modèle dans un des siens ; enregistrez-le depuis le modèle lui-même, ou renommez les tenseurs : &quot;%3&quot; en &quot;%4&quot;</translation>
    </message>
    <message>
        <source>the files hold nothing of the %1: they were saved without, but config.json still describes it. Set %2 to null in config.json to run the model without, or download the whole model</source>
        <translation>les fichiers ne contiennent rien de : %1. Ils ont été enregistrés sans, mais config.json le décrit encore. Mettez %2 à null dans config.json pour faire tourner le modèle sans, ou téléchargez le modèle entier</translation>
    </message>
    <message>
        <source>the files of this model have to be looked up once more</source>
        <translation>les fichiers de ce modèle doivent être consultés une fois de plus</translation>
    </message>
    <message>
        <source>the filter &quot;%1&quot;</source>
        <translation>le filtre &quot;%1&quot;</translation>
    </message>
    <message>
        <source>the folder %1 does not exist; make it or name another place</source>
        <translation>le dossier %1 n’existe pas ; créez-le ou nommez un autre endroit</translation>
    </message>
    <message>
        <source>the function &quot;%1&quot;</source>
        <translation>la fonction &quot;%1&quot;</translation>
    </message>
    <message>
        <source>the header describes %1 bytes of data, the file holds %2; it was cut short, download it again</source>
        <translation>l’en-tête décrit %1 octets de données, le fichier en contient %2 ; il a été coupé, téléchargez-le à nouveau</translation>
    </message>
    <message>
        <source>the header describes %1 bytes of data, the file holds %2; there are surplus bytes at its end</source>
        <translation>l’en-tête décrit %1 octets de données, le fichier en contient %2 ; il y a des octets de trop à sa fin</translation>
    </message>
    <message>
        <source>the header has %1 bytes, at most 100000000 are allowed</source>
        <translation>l’en-tête a %1 octets, 100000000 au plus sont permis</translation>
    </message>
    <message>
        <source>the header is %1, expected an object</source>
        <translation>l’en-tête est %1, attendu : un objet</translation>
    </message>
    <message>
        <source>the header is longer than the file</source>
        <translation>l’en-tête est plus long que le fichier</translation>
    </message>
    <message>
        <source>the header is nested deeper than 4 levels (at byte %1)</source>
        <translation>l’en-tête est imbriqué sur plus de 4 niveaux (à l’octet %1)</translation>
    </message>
    <message>
        <source>the header is not UTF-8</source>
        <translation>l’en-tête n’est pas de l’UTF-8</translation>
    </message>
    <message>
        <source>the header is not valid JSON: %1 (at byte %2)</source>
        <translation>l’en-tête n’est pas du JSON valide : %1 (à l’octet %2)</translation>
    </message>
    <message>
        <source>the ids hold a run of %1 %2 placeholders as item %3; the attached media do not give that many soft tokens</source>
        <translation>les numéros contiennent une suite de %1 emplacements (%2) comme élément %3 ; les médias joints ne donnent pas autant de jetons</translation>
    </message>
    <message>
        <source>the length of a number</source>
        <translation>la longueur d’un nombre</translation>
    </message>
    <message>
        <source>the logits</source>
        <translation>les logits</translation>
    </message>
    <message>
        <source>the logits needed more memory than the system gave; close other programs, or choose a smaller context or a smaller format</source>
        <translation>les logits ont demandé plus de mémoire que le système n’en donne ; fermez d’autres programmes, ou choisissez un contexte plus petit ou un format plus petit</translation>
    </message>
    <message>
        <source>the member &quot;%1&quot; occurs twice</source>
        <translation>le membre &quot;%1&quot; figure deux fois</translation>
    </message>
    <message>
        <source>the member &quot;%1&quot; occurs twice in one object</source>
        <translation>le membre &quot;%1&quot; figure deux fois dans un objet</translation>
    </message>
    <message>
        <source>the member %1 is missing</source>
        <translation>le membre %1 manque</translation>
    </message>
    <message>
        <source>the member %1 occurs twice</source>
        <translation>le membre %1 figure deux fois</translation>
    </message>
    <message>
        <source>the method &quot;%1&quot;</source>
        <translation>la méthode &quot;%1&quot;</translation>
    </message>
    <message>
        <source>the model files do not hold this tensor (they hold %1 of the %2 that config.json implies); download the model again</source>
        <translation>les fichiers du modèle ne contiennent pas ce tenseur (ils contiennent %1 des %2 que config.json implique) ; téléchargez le modèle à nouveau</translation>
    </message>
    <message>
        <source>the model files do not hold this tensor (they hold %1 of the %2 that config.json implies, and others such as %3); they belong to another model or to another program&apos;s format</source>
        <translation>les fichiers du modèle ne contiennent pas ce tenseur (ils contiennent %1 des %2 que config.json implique, et d’autres comme %3) ; ils appartiennent à un autre modèle ou sont au format d’un autre programme</translation>
    </message>
    <message>
        <source>the model folder holds no weights, only headers or config.json: it can be planned, not loaded. Download its .safetensors files.</source>
        <translation>le dossier du modèle ne contient pas de poids, seulement des en-têtes ou config.json : on peut le planifier, pas le charger. Téléchargez ses fichiers .safetensors.</translation>
    </message>
    <message>
        <source>the module&apos;s shape %1</source>
        <translation>la forme du module %1</translation>
    </message>
    <message>
        <source>the move needed more memory than the system gave; close other programs, or choose a smaller context or a smaller format</source>
        <translation>le déplacement a demandé plus de mémoire que le système n’en donne ; fermez d’autres programmes, ou choisissez un contexte plus petit ou un format plus petit</translation>
    </message>
    <message>
        <source>the number %1 is not a plain whole number from 0 to 2^48</source>
        <translation>le nombre %1 n’est pas un simple nombre entier de 0 à 2^48</translation>
    </message>
    <message>
        <source>the output folder is the model folder; models are never changed</source>
        <translation>le dossier de sortie est le dossier du modèle ; les modèles ne sont jamais changés</translation>
    </message>
    <message>
        <source>the part of the recording must start at 0 seconds or later and have more than 0 and at most %1 seconds</source>
        <translation>la partie de l’enregistrement doit commencer à 0 seconde ou plus tard et durer plus de 0 et au plus %1 secondes</translation>
    </message>
    <message>
        <source>the part starts after the end of the recording, which has %1 seconds</source>
        <translation>la partie commence après la fin de l’enregistrement, qui a %1 secondes</translation>
    </message>
    <message>
        <source>the part starts at %1 s, after the end of the recording, which has %2 s; choose an earlier part</source>
        <translation>la partie commence à %1 s, après la fin de l’enregistrement, qui a %2 s ; choisissez une partie plus tôt</translation>
    </message>
    <message>
        <source>the pattern has %1 bytes, at most %2 are read</source>
        <translation>le motif a %1 octets, %2 au plus sont lus</translation>
    </message>
    <message>
        <source>the picture declares %1; both sides must be at least 1</source>
        <translation>l’image déclare %1 ; les deux côtés doivent être d’au moins 1</translation>
    </message>
    <message>
        <source>the picture has %1 (%2 megapixels), at most %3 megapixels are read; give a smaller version of it</source>
        <translation>l’image a %1 (%2 mégapixels), %3 mégapixels au plus sont lus ; donnez-en une version plus petite</translation>
    </message>
    <message>
        <source>the picture has %1, at most %2 along one side are read; give a smaller version or a part of it</source>
        <translation>l’image a %1, %2 au plus par côté sont lus ; donnez une version plus petite ou une partie</translation>
    </message>
    <message>
        <source>the picture is empty (0 bytes)</source>
        <translation>l’image est vide (0 octet)</translation>
    </message>
    <message>
        <source>the plan computes on %1, which is not open</source>
        <translation>le plan calcule sur %1, qui n’est pas ouvert</translation>
    </message>
    <message>
        <source>the plan does not fit</source>
        <translation>le plan ne tient pas</translation>
    </message>
    <message>
        <source>the plan has errors: %1: %2</source>
        <translation>le plan a des erreurs : %1 : %2</translation>
    </message>
    <message>
        <source>the plan names %1, which this engine does not have</source>
        <translation>le plan nomme %1, que ce moteur n’a pas</translation>
    </message>
    <message>
        <source>the prompt has %1 %2 placeholders, but %3 %2 items were given; the numbers must be equal</source>
        <translation>l’invite a %1 emplacements (%2), mais %3 éléments (%2) ont été donnés ; les nombres doivent être égaux</translation>
    </message>
    <message>
        <source>the prompt has %1 tokens, the context holds %2; shorten the conversation or load with a larger context</source>
        <translation>l’invite a %1 jetons, le contexte en contient %2 ; raccourcissez la conversation ou chargez avec un contexte plus grand</translation>
    </message>
    <message>
        <source>the prompt is empty: there is nothing to answer</source>
        <translation>l’invite est vide : il n’y a rien à quoi répondre</translation>
    </message>
    <message>
        <source>the published 4-bit code table (entry %1 is %2)</source>
        <translation>la table de codes 4 bits publiée (l’entrée %1 est %2)</translation>
    </message>
    <message>
        <source>the recording declares %1 channels</source>
        <translation>l’enregistrement déclare %1 canaux</translation>
    </message>
    <message>
        <source>the recording declares %1 minutes, files of at most %2 minutes are read</source>
        <translation>l’enregistrement déclare %1 minutes, les fichiers de %2 minutes au plus sont lus</translation>
    </message>
    <message>
        <source>the recording declares a sample rate of %1 Hz</source>
        <translation>l’enregistrement déclare une fréquence d’échantillonnage de %1 Hz</translation>
    </message>
    <message>
        <source>the recording has %1 channels, at most %2 are read</source>
        <translation>l’enregistrement a %1 canaux, %2 au plus sont lus</translation>
    </message>
    <message>
        <source>the recording has %1 samples at 16 kHz (%2 seconds), the model needs at least %3</source>
        <translation>l’enregistrement a %1 échantillons à 16 kHz (%2 secondes), le modèle en demande au moins %3</translation>
    </message>
    <message>
        <source>the recording has %1 seconds, the model hears at most %2; choose a part of it</source>
        <translation>l’enregistrement a %1 secondes, le modèle en entend %2 au plus ; choisissez-en une partie</translation>
    </message>
    <message>
        <source>the recording has a sample rate of %1 Hz, from %2 to %3 Hz are read</source>
        <translation>l’enregistrement a une fréquence d’échantillonnage de %1 Hz, celles de %2 à %3 Hz sont lues</translation>
    </message>
    <message>
        <source>the recording has more than %1 minutes, longer files are not read</source>
        <translation>l’enregistrement a plus de %1 minutes, les fichiers plus longs ne sont pas lus</translation>
    </message>
    <message>
        <source>the recording has more than %1 seconds, the model hears at most %2; choose a part of it</source>
        <translation>l’enregistrement a plus de %1 secondes, le modèle en entend %2 au plus ; choisissez-en une partie</translation>
    </message>
    <message>
        <source>the recording is %1 s long, one clip may have %2 s; choose a part of it</source>
        <translation>l’enregistrement dure %1 s, un extrait peut durer %2 s ; choisissez-en une partie</translation>
    </message>
    <message>
        <source>the recording is empty (0 bytes)</source>
        <translation>l’enregistrement est vide (0 octet)</translation>
    </message>
    <message>
        <source>the reply needed more memory than the system gave; close other programs, or choose a smaller context or a smaller format</source>
        <translation>la réponse a demandé plus de mémoire que le système n’en donne ; fermez d’autres programmes, ou choisissez un contexte plus petit ou un format plus petit</translation>
    </message>
    <message>
        <source>the role must be a word of 1 to 32 lower-case letters, such as user, assistant or system</source>
        <translation>le rôle doit être un mot de 1 à 32 lettres minuscules, comme user, assistant ou system</translation>
    </message>
    <message>
        <source>the shape has more than 8 dimensions</source>
        <translation>la forme a plus de 8 dimensions</translation>
    </message>
    <message>
        <source>the shard name &quot;%1&quot; does not end in .safetensors</source>
        <translation>le nom de morceau &quot;%1&quot; ne finit pas par .safetensors</translation>
    </message>
    <message>
        <source>the shard name &quot;%1&quot; is refused: %2</source>
        <translation>le nom de morceau &quot;%1&quot; est refusé : %2</translation>
    </message>
    <message>
        <source>the staging area of streamed and visiting weights</source>
        <translation>la zone des poids lus à la demande et en visite</translation>
    </message>
    <message>
        <source>the statement &quot;%1&quot;, which is not known here</source>
        <translation>l’instruction &quot;%1&quot;, qui n’est pas connue ici</translation>
    </message>
    <message>
        <source>the string %1</source>
        <translation>la chaîne %1</translation>
    </message>
    <message>
        <source>the string %1 (two tokens with one space between)</source>
        <translation>la chaîne %1 (deux jetons avec une espace entre eux)</translation>
    </message>
    <message>
        <source>the system has no memory left for making a plan; close other programs</source>
        <translation>le système n’a plus de mémoire pour faire un plan ; fermez d’autres programmes</translation>
    </message>
    <message>
        <source>the system has no memory left for this column; close other programs or shorten the prompt</source>
        <translation>le système n’a plus de mémoire pour cette colonne ; fermez d’autres programmes ou raccourcissez l’invite</translation>
    </message>
    <message>
        <source>the system has no memory left for this; close other programs or choose smaller options</source>
        <translation>le système n’a plus de mémoire pour cela ; fermez d’autres programmes ou choisissez des options plus petites</translation>
    </message>
    <message>
        <source>the template refuses this conversation: %1</source>
        <translation>le modèle de conversation refuse cette conversation : %1</translation>
    </message>
    <message>
        <source>the template uses %1</source>
        <translation>le modèle de conversation utilise %1</translation>
    </message>
    <message>
        <source>the tensor %1 lies in two shards, %2 and %3</source>
        <translation>le tenseur %1 est dans deux morceaux, %2 et %3</translation>
    </message>
    <message>
        <source>the tensor name %1 holds a control character</source>
        <translation>le nom de tenseur %1 contient un caractère de contrôle</translation>
    </message>
    <message>
        <source>the tensor name %1 in weight_map holds a control character</source>
        <translation>le nom de tenseur %1 dans weight_map contient un caractère de contrôle</translation>
    </message>
    <message>
        <source>the tensor name %1 occurs twice</source>
        <translation>le nom de tenseur %1 figure deux fois</translation>
    </message>
    <message>
        <source>the test &quot;%1&quot;</source>
        <translation>le test &quot;%1&quot;</translation>
    </message>
    <message>
        <source>the text ends in the middle of a JSON value</source>
        <translation>le texte finit au milieu d’une valeur JSON</translation>
    </message>
    <message>
        <source>the text ends inside a string</source>
        <translation>le texte finit au milieu d’une chaîne</translation>
    </message>
    <message>
        <source>the text is not UTF-8</source>
        <translation>le texte n’est pas de l’UTF-8</translation>
    </message>
    <message>
        <source>the type of its key, %1</source>
        <translation>le type de sa clé, %1</translation>
    </message>
    <message>
        <source>the unknown escape \%1</source>
        <translation>l’échappement inconnu \%1</translation>
    </message>
    <message>
        <source>there are more than 1000000 tensors</source>
        <translation>il y a plus de 1000000 tenseurs</translation>
    </message>
    <message>
        <source>there is no folder for the hub&apos;s cache, because neither HOME nor HF_HOME is set; set one and start again</source>
        <translation>il n’y a pas de dossier pour le cache du hub, car ni HOME ni HF_HOME n’est défini ; définissez-en un et redémarrez</translation>
    </message>
    <message>
        <source>there is no such file</source>
        <translation>il n’y a pas de tel fichier</translation>
    </message>
    <message>
        <source>there is no such file in the folder</source>
        <translation>il n’y a pas de tel fichier dans le dossier</translation>
    </message>
    <message>
        <source>there is no such folder</source>
        <translation>il n’y a pas de tel dossier</translation>
    </message>
    <message>
        <source>there is no weight file to read it from; only the configuration is here</source>
        <translation>il n’y a pas de fichier de poids où le lire ; seule la configuration est ici</translation>
    </message>
    <message>
        <source>they have this model&apos;s modules under another name, &quot;%1&quot; where it has &quot;%2&quot;: the adapter was made for a model that was put into another, or for another part of it. If it belongs here, rename its tensors</source>
        <translation>ils ont les modules de ce modèle sous un autre nom, &quot;%1&quot; là où il a &quot;%2&quot; : l’adaptateur a été fait pour un modèle qui avait été mis dans un autre, ou pour une autre partie de celui-ci. S’il est bien pour lui, renommez ses tenseurs</translation>
    </message>
    <message>
        <source>this build has no GPU kernels</source>
        <translation>ce programme est construit sans noyaux GPU</translation>
    </message>
    <message>
        <source>this build of Belfry has no network part</source>
        <translation>ce Belfry est construit sans partie réseau</translation>
    </message>
    <message>
        <source>this is a plan for another computer; loading needs one for this computer</source>
        <translation>c’est un plan pour un autre ordinateur ; pour charger il en faut un pour celui-ci</translation>
    </message>
    <message>
        <source>this is an adapter of mlx-lm, whose factors stand transposed under other names and whose scale is not PEFT&apos;s lora_alpha; convert it to PEFT&apos;s form (lora_A = lora_a transposed, lora_B = lora_b transposed, lora_alpha = scale x rank) or fuse it (mlx_lm.fuse) into the 16-bit model</source>
        <translation>c’est un adaptateur de mlx-lm, dont les facteurs sont transposés sous d’autres noms et dont scale n’est pas le lora_alpha de PEFT ; convertissez-le dans la forme de PEFT (lora_A = lora_a transposé, lora_B = lora_b transposé, lora_alpha = scale x rang) ou fusionnez-le (mlx_lm.fuse) dans le modèle 16 bits</translation>
    </message>
    <message>
        <source>this model has no audio tower</source>
        <translation>ce modèle n’a pas de tour audio</translation>
    </message>
    <message>
        <source>this model has no audio tower: it cannot take sound</source>
        <translation>ce modèle n’a pas de tour audio : il ne prend pas de son</translation>
    </message>
    <message>
        <source>this model has no tokenizer: give token ids</source>
        <translation>ce modèle n’a pas de tokenizer : donnez des numéros de jetons</translation>
    </message>
    <message>
        <source>this model has no vision tower</source>
        <translation>ce modèle n’a pas de tour de vision</translation>
    </message>
    <message>
        <source>this model has no vision tower: it cannot take images</source>
        <translation>ce modèle n’a pas de tour de vision : il ne prend pas d’images</translation>
    </message>
    <message>
        <source>to be continued, the last message must be a reply of the model with text; ask for a new reply instead</source>
        <translation>pour être continué, le dernier message doit être une réponse du modèle avec du texte ; demandez plutôt une nouvelle réponse</translation>
    </message>
    <message>
        <source>token embeddings</source>
        <translation>les plongements des jetons</translation>
    </message>
    <message>
        <source>token id %1 is listed twice</source>
        <translation>le numéro de jeton %1 figure deux fois</translation>
    </message>
    <message>
        <source>token id %1 is negative</source>
        <translation>le numéro de jeton %1 est négatif</translation>
    </message>
    <message>
        <source>token id %1 is outside the vocabulary of %2</source>
        <translation>le numéro de jeton %1 est hors du vocabulaire de %2</translation>
    </message>
    <message>
        <source>tokenizer.json has %1 entries, the model&apos;s vocabulary has %2</source>
        <translation>tokenizer.json a %1 entrées, le vocabulaire du modèle en a %2</translation>
    </message>
    <message>
        <source>tokenizer.json: %1</source>
        <translation>tokenizer.json : %1</translation>
    </message>
    <message>
        <source>tokenizer.json: merges build the control token %1, so that text typed by anybody could act as one</source>
        <translation>tokenizer.json : merges forme le jeton de contrôle %1, si bien qu’un texte tapé par n’importe qui pourrait agir comme tel</translation>
    </message>
    <message>
        <source>tokenizer.json: the added token %1 of the Gemma 4 chat format is missing, so that no chat prompt can be written; use a raw prompt, or the tokenizer.json of a Gemma 4 model</source>
        <translation>tokenizer.json : le jeton ajouté %1 du format de conversation de Gemma 4 manque, si bien qu’aucune invite de conversation ne peut être écrite ; prenez une invite brute, ou le tokenizer.json d’un modèle Gemma 4</translation>
    </message>
    <message>
        <source>too long a range</source>
        <translation>une plage trop longue</translation>
    </message>
    <message>
        <source>too long a text</source>
        <translation>un texte trop long</translation>
    </message>
    <message>
        <source>too much memory, more than %1 MiB</source>
        <translation>trop de mémoire, plus de %1 MiB</translation>
    </message>
    <message>
        <source>too many parts</source>
        <translation>trop d&apos;éléments</translation>
    </message>
    <message>
        <source>too long a name</source>
        <translation>un nom trop long</translation>
    </message>
    <message>
        <source>too many steps</source>
        <translation>trop d’étapes</translation>
    </message>
    <message>
        <source>%1 are no JSON object; expected one such as {&quot;city&quot;: &quot;Paris&quot;}</source>
        <translation>%1 ne sont pas un objet JSON ; il en faut un tel que {&quot;city&quot;: &quot;Paris&quot;}</translation>
    </message>
    <message>
        <source>the parameters of the tool %1 have more than %2 members with all references followed; describe fewer</source>
        <translation>les paramètres de l’outil %1 ont plus de %2 membres, tous les renvois suivis ; décrivez-en moins</translation>
    </message>
    <message>
        <source>the parameters of the tool %1</source>
        <translation>les paramètres de l’outil %1</translation>
    </message>
    <message>
        <source>message %1: a tool&apos;s result stands right behind the reply that asked for it; expected that reply before it</source>
        <translation>message %1 : le résultat d’un outil suit immédiatement la réponse qui l’a demandé ; cette réponse est attendue avant lui</translation>
    </message>
    <message>
        <source>message %1: it asks for tools, and their results do not follow; expected a message of the role tool for every call</source>
        <translation>message %1 : il appelle des outils, et leurs résultats ne suivent pas ; il faut un message du rôle tool pour chaque appel</translation>
    </message>
    <message>
        <source>this model&apos;s tokenizer.json has no tokens for calls of tools (&lt;|tool_call&gt; and others); ask without tools</source>
        <translation>le tokenizer.json de ce modèle n’a pas de jetons pour les appels d’outils (&lt;|tool_call&gt; et d’autres) ; demandez sans outils</translation>
    </message>
    <message>
        <source>true or false</source>
        <translation>true ou false</translation>
    </message>
    <message>
        <source>two of the adapters replace %1; merge one of them</source>
        <translation>deux des adaptateurs remplacent %1 ; fusionnez l’un d’eux</translation>
    </message>
    <message>
        <source>two positive whole numbers [outputs, inputs]</source>
        <translation>deux nombres entiers positifs [sorties, entrées]</translation>
    </message>
    <message>
        <source>type %1</source>
        <translation>type %1</translation>
    </message>
    <message>
        <source>unexpected &quot;%1&quot; in a tag</source>
        <translation>&quot;%1&quot; inattendu dans une balise</translation>
    </message>
    <message>
        <source>unexpected &quot;%1&quot; in an expression</source>
        <translation>&quot;%1&quot; inattendu dans une expression</translation>
    </message>
    <message>
        <source>unknown data</source>
        <translation>des données inconnues</translation>
    </message>
    <message>
        <source>unknown escape in a string</source>
        <translation>échappement inconnu dans une chaîne</translation>
    </message>
    <message>
        <source>use_dora is true, which PEFT does not have for experts</source>
        <translation>use_dora est true, ce que PEFT n’a pas pour les experts</translation>
    </message>
    <message>
        <source>verbose mode ((?x))</source>
        <translation>le mode verbeux ((?x))</translation>
    </message>
    <message>
        <source>version: expected &quot;1.0&quot;, found %1</source>
        <translation>version : attendu &quot;1.0&quot;, trouvé %1</translation>
    </message>
    <message>
        <source>video</source>
        <translation>de la vidéo</translation>
    </message>
    <message>
        <source>vision tower</source>
        <translation>tour de vision</translation>
    </message>
    <message>
        <source>weighed with about %1 tokens/s (everything on %2: %3)</source>
        <translation>évalué à environ %1 jetons/s (tout sur %2 : %3)</translation>
    </message>
    <message>
        <source>weighed with about %1 tokens/s (everything on %2: %3); a simulated GPU is weighed as the mid-range card it stands for, so that the choice is the card&apos;s; what it computes here has this processor&apos;s speed</source>
        <translation>évalué à environ %1 jetons/s (tout sur %2 : %3) ; un GPU simulé compte comme la carte de milieu de gamme qu’il représente, pour que le choix soit celui de la carte ; ce qu’il calcule ici va à la vitesse de ce processeur</translation>
    </message>
    <message>
        <source>weight cache: bytes %1 to %2 of %3 do not match their checksum; delete the file %4</source>
        <translation>copie quantifiée : les octets %1 à %2 de %3 ne correspondent pas à leur somme de contrôle ; supprimez le fichier %4</translation>
    </message>
    <message>
        <source>weight_map gives %1 %2, expected a file name</source>
        <translation>weight_map donne %2 pour %1, attendu : un nom de fichier</translation>
    </message>
    <message>
        <source>weight_map is %1, expected an object</source>
        <translation>weight_map est %1, attendu : un objet</translation>
    </message>
    <message>
        <source>weight_map names more than 1000000 tensors</source>
        <translation>weight_map nomme plus de 1000000 tenseurs</translation>
    </message>
    <message>
        <source>weights in blocks with scales (MXFP4)</source>
        <translation>des poids en blocs avec échelles (MXFP4)</translation>
    </message>
    <message>
        <source>weights quantized by GPTQ or AWQ</source>
        <translation>des poids quantifiés par GPTQ ou AWQ</translation>
    </message>
    <message>
        <source>weights quantized by MLX</source>
        <translation>des poids quantifiés par MLX</translation>
    </message>
    <message>
        <source>weights quantized by another program (MLX, GPTQ, ...)</source>
        <translation>des poids quantifiés par un autre programme (MLX, GPTQ, ...)</translation>
    </message>
    <message>
        <source>weights with scales beside them (FP8 or NVFP4)</source>
        <translation>des poids avec des échelles à côté (FP8 ou NVFP4)</translation>
    </message>
    <message>
        <source>without peft_version</source>
        <translation>sans peft_version</translation>
    </message>
    <message>
        <source>a token reads %1 of %2 in each layer, about %3 more per token</source>
        <translation>un jeton en lit %1 sur %2 dans chaque couche, environ %3 de plus par jeton</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 sur %2</translation>
    </message>
    <message>
        <source>what costs nothing per token moves first (tables), then what costs only with media (towers), then what every token reads (head, experts, layers)</source>
        <translation>d’abord part ce qui ne coûte rien par jeton (tables), puis ce qui ne coûte qu’avec des médias (tours), puis ce que chaque jeton lit (tête, experts, couches)</translation>
    </message>
    <message>
        <source>Which contents the model files have could not be kept, the next load reads them all: %1</source>
        <translation>Le contenu des fichiers du modèle n’a pas pu être noté, le prochain chargement les lira tous : %1</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>espace de travail</translation>
    </message>
    <message>
        <source>writing failed: %1</source>
        <translation>l’écriture a échoué : %1</translation>
    </message>
    <message>
        <source>writing safetensors: a tensor has an unusable name</source>
        <translation>écriture de safetensors : un tenseur a un nom inutilisable</translation>
    </message>
    <message>
        <source>writing safetensors: cancelled</source>
        <translation>écriture de safetensors : annulée</translation>
    </message>
    <message>
        <source>writing safetensors: tensor %1: %2</source>
        <translation>écriture de safetensors : tenseur %1 : %2</translation>
    </message>
    <message>
        <source>writing safetensors: the header would exceed 100000000 bytes</source>
        <translation>écriture de safetensors : l’en-tête dépasserait 100000000 octets</translation>
    </message>
    <message>
        <source>writing safetensors: the tensor name %1 is given twice</source>
        <translation>écriture de safetensors : le nom de tenseur %1 est donné deux fois</translation>
    </message>
    <message>
        <source>is &quot;%1&quot;, not a drafting assistant (gemma4_assistant); give the folder whose name ends in -assistant</source>
        <translation>vaut « %1 », ce n’est pas un assistant d’ébauche (gemma4_assistant) ; donnez le dossier dont le nom se termine par -assistant</translation>
    </message>
    <message>
        <source>is not 0, or the layers have experts or MLPs of two widths; assistants have plain layers</source>
        <translation>n’est pas 0, ou les couches ont des experts ou des MLP de deux largeurs ; les assistants ont des couches simples</translation>
    </message>
    <message>
        <source>is %1, which does not divide the vocabulary of %2</source>
        <translation>vaut %1, ce qui ne divise pas le vocabulaire de %2</translation>
    </message>
    <message>
        <source>the assistant does not belong to this model (%1): its %2 is %3, the model has %4; give the assistant that is named after the model, or load without drafts</source>
        <translation>l’assistant n’est pas celui de ce modèle (%1) : %2 vaut %3, le modèle a %4 ; donnez l’assistant qui porte le nom du modèle, ou chargez sans ébauches</translation>
    </message>
    <message>
        <source>layer %1&apos;s kind of attention (1 sliding, 2 full)</source>
        <translation>type d’attention de la couche %1 (1 glissante, 2 complète)</translation>
    </message>
    <message>
        <source>layer %1&apos;s head_dim</source>
        <translation>head_dim de la couche %1</translation>
    </message>
    <message>
        <source>layer %1&apos;s number of key/value heads</source>
        <translation>nombre de têtes de clés et de valeurs de la couche %1</translation>
    </message>
    <message>
        <source>the assistant&apos;s rope_parameters are not the model&apos;s, whose keys it reads; give the assistant that is named after the model</source>
        <translation>les rope_parameters de l’assistant ne sont pas ceux du modèle dont il lit les clés ; donnez l’assistant qui porte le nom du modèle</translation>
    </message>
    <message>
        <source>assistant: %1 is missing; expected int64 [%2]. Download the assistant again</source>
        <translation>assistant : %1 manque ; attendu : int64 [%2]. Téléchargez de nouveau l’assistant</translation>
    </message>
    <message>
        <source>assistant: %1 has another type or shape; expected int64 [%2]. Download the assistant again</source>
        <translation>assistant : %1 a un autre type ou une autre forme ; attendu : int64 [%2]. Téléchargez de nouveau l’assistant</translation>
    </message>
    <message>
        <source>assistant: %1: entry %2 is %3, which stands there twice; expected every token id below %4 once. Download the assistant again</source>
        <translation>assistant : %1 : l’entrée %2 vaut %3 et s’y trouve deux fois ; attendu : chaque numéro de jeton sous %4 une seule fois. Téléchargez de nouveau l’assistant</translation>
    </message>
    <message>
        <source>assistant: %1: entry %2 is %3; expected every token id below %4 once. Download the assistant again</source>
        <translation>assistant : %1 : l’entrée %2 vaut %3 ; attendu : chaque numéro de jeton sous %4 une seule fois. Téléchargez de nouveau l’assistant</translation>
    </message>
    <message>
        <source>%1: has not the %2 rows that are to be put in order</source>
        <translation>%1 : n’a pas les %2 lignes qui sont à ordonner</translation>
    </message>
    <message>
        <source>drafts (%1): %2</source>
        <translation>ébauches (%1) : %2</translation>
    </message>
    <message>
        <source>there is no published assistant for a model of variant &quot;%1&quot;; give an assistant&apos;s folder, or load without drafts</source>
        <translation>aucun assistant n’est publié pour un modèle de la variante « %1 » ; donnez le dossier d’un assistant, ou chargez sans ébauches</translation>
    </message>
    <message>
        <source>the model was loaded for text only, without its audio tower: it cannot hear recordings. Load it with its towers (without --text-only)</source>
        <translation>le modèle a été chargé pour le texte seul, sans sa tour audio : il ne peut pas entendre d’enregistrements. Chargez-le avec ses tours (sans --text-only)</translation>
    </message>
    <message>
        <source>the model was loaded for text only, without its vision tower: it cannot see pictures. Load it with its towers (without --text-only)</source>
        <translation>le modèle a été chargé pour le texte seul, sans sa tour de vision : il ne peut pas voir d’images. Chargez-le avec ses tours (sans --text-only)</translation>
    </message>
    <message>
        <source>this model has no audio tower: it cannot hear recordings</source>
        <translation>ce modèle n’a pas de tour audio : il ne peut pas entendre d’enregistrements</translation>
    </message>
    <message>
        <source>this model has no vision tower: it cannot see pictures</source>
        <translation>ce modèle n’a pas de tour de vision : il ne peut pas voir d’images</translation>
    </message>
    <message>
        <source>a picture</source>
        <translation>une image</translation>
    </message>
    <message>
        <source>%1, but %2</source>
        <translation>%1, mais %2</translation>
    </message>
    <message>
        <source>a picture is attached</source>
        <translation>une image est jointe</translation>
    </message>
    <message>
        <source>a recording is attached</source>
        <translation>un enregistrement est joint</translation>
    </message>
    <message>
        <source>no object</source>
        <translation>pas un objet</translation>
    </message>
    <message>
        <source>another object</source>
        <translation>un autre objet</translation>
    </message>
    <message>
        <source>%1: expected a profile of Belfry, an object with &quot;belfryProfile&quot;: 1, &quot;name&quot; and &quot;load&quot;; found: %2. Choose a file that Profiles, Export has written</source>
        <translation>%1 : attendu : un profil de Belfry, un objet avec &quot;belfryProfile&quot;: 1, &quot;name&quot; et &quot;load&quot; ; trouvé : %2. Choisissez un fichier écrit par Profils, Exporter</translation>
    </message>
    <message>
        <source>the file name holds a character that Windows allows in none: &lt; &gt; &quot; | ? or *</source>
        <translation>le nom de fichier contient un caractère que Windows n’autorise dans aucun : &lt; &gt; &quot; | ? ou *</translation>
    </message>
    <message>
        <source>the file name ends in a dot or a blank, which Windows leaves out</source>
        <translation>le nom de fichier se termine par un point ou une espace, que Windows omet</translation>
    </message>
    <message>
        <source>the shard name &quot;%1&quot; is refused: it differs from &quot;%2&quot; in capitals alone, and Windows has one file for both</source>
        <translation>le nom de fragment « %1 » est refusé : il ne diffère de « %2 » que par les majuscules, et Windows n’a qu’un fichier pour les deux</translation>
    </message>
    <message>
        <source> (it says &quot;%1&quot;)</source>
        <translation> (il dit « %1 »)</translation>
    </message>
    <message>
        <source>&quot;%1&quot; is no address of a server; expected one like https://gpu.example.org/v1 or http://localhost:8000/v1, without a user name or a password in it</source>
        <translation>« %1 » n&apos;est pas l&apos;adresse d&apos;un serveur ; il en faut une comme https://gpu.example.org/v1 ou http://localhost:8000/v1, sans nom d&apos;utilisateur ni mot de passe</translation>
    </message>
    <message>
        <source>&quot;choices&quot; is no list</source>
        <translation>« choices » n&apos;est pas une liste</translation>
    </message>
    <message>
        <source>&quot;tool_calls&quot; is no list</source>
        <translation>« tool_calls » n&apos;est pas une liste</translation>
    </message>
    <message>
        <source>%1 answers with something that is no HTTP (%2); check the address and the port</source>
        <translation>%1 répond par quelque chose qui n&apos;est pas du HTTP (%2) ; vérifiez l&apos;adresse et le port</translation>
    </message>
    <message>
        <source>%1 answers with status %2, expected 200; is it a server with the API of OpenAI?%3</source>
        <translation>%1 répond avec le code %2 au lieu de 200 ; est-ce un serveur avec l&apos;API d&apos;OpenAI ?%3</translation>
    </message>
    <message>
        <source>%1 cannot be reached: nothing listens there, or the network is down; start the server, or check address and port (%2)</source>
        <translation>%1 est injoignable : rien n&apos;écoute là-bas, ou le réseau est absent ; démarrez le serveur, ou vérifiez l&apos;adresse et le port (%2)</translation>
    </message>
    <message>
        <source>%1 does not let this computer in: the key is wrong, missing or may not do that; check it%2</source>
        <translation>%1 ne laisse pas entrer cet ordinateur : la clé est fausse, absente ou sans ce droit ; vérifiez-la%2</translation>
    </message>
    <message>
        <source>%1 does not take so much at once; attach fewer or smaller files, or begin a new chat%2</source>
        <translation>%1 n&apos;accepte pas autant à la fois ; joignez moins de fichiers ou de plus petits, ou commencez une nouvelle discussion%2</translation>
    </message>
    <message>
        <source>%1 ended the connection before it answered; look at its log, or try again</source>
        <translation>%1 a coupé la connexion avant de répondre ; regardez son journal, ou réessayez</translation>
    </message>
    <message>
        <source>%1 ended the connection in the middle of the reply; what came is kept; ask once more for the rest</source>
        <translation>%1 a coupé la connexion au milieu de la réponse ; ce qui est arrivé est gardé ; redemandez le reste</translation>
    </message>
    <message>
        <source>%1 failed while it answered: %2</source>
        <translation>%1 a échoué en répondant : %2</translation>
    </message>
    <message>
        <source>%1 failed while it answered; look at its log</source>
        <translation>%1 a échoué en répondant ; regardez son journal</translation>
    </message>
    <message>
        <source>%1 failed with status %2: look at its log, or try again%3</source>
        <translation>%1 a échoué avec le code %2 : regardez son journal, ou réessayez%3</translation>
    </message>
    <message>
        <source>%1 has no model &quot;%2&quot;, or its address is another one; choose one of its list%3</source>
        <translation>%1 n&apos;a pas de modèle « %2 », ou son adresse est une autre ; choisissez-en un dans sa liste%3</translation>
    </message>
    <message>
        <source>%1 has no model &quot;%2&quot;; it has: %3</source>
        <translation>%1 n&apos;a pas de modèle « %2 » ; il a : %3</translation>
    </message>
    <message>
        <source>%1 has no time now, or is still loading its model: try again in a minute%2</source>
        <translation>%1 est occupé, ou charge encore son modèle : réessayez dans une minute%2</translation>
    </message>
    <message>
        <source>%1 has no time now: try again in %2 seconds%3</source>
        <translation>%1 est occupé : réessayez dans %2 secondes%3</translation>
    </message>
    <message>
        <source>%1 has nothing at this address; check whether it ends in /v1%2</source>
        <translation>%1 n&apos;a rien à cette adresse ; vérifiez qu&apos;elle se termine par /v1%2</translation>
    </message>
    <message>
        <source>%1 holds no key: expected one word of letters, digits and signs, at most %2 of them</source>
        <translation>%1 ne contient pas de clé : il faut un mot fait de lettres, de chiffres et de signes, %2 au plus</translation>
    </message>
    <message>
        <source>%1 holds no key; write the server&apos;s key there, or connect without one</source>
        <translation>%1 ne contient pas de clé ; écrivez-y celle du serveur, ou connectez-vous sans clé</translation>
    </message>
    <message>
        <source>%1 keeps the connection open and says nothing of use; look at its log, or try again</source>
        <translation>%1 garde la connexion ouverte sans rien dire d&apos;utile ; regardez son journal, ou réessayez</translation>
    </message>
    <message>
        <source>%1 refuses the request with status %2%3</source>
        <translation>%1 refuse la demande avec le code %2%3</translation>
    </message>
    <message>
        <source>%1 said nothing any more for too long; it hangs or the connection is lost; try again</source>
        <translation>%1 n&apos;a plus rien dit pendant trop longtemps ; il est bloqué ou la connexion est perdue ; réessayez</translation>
    </message>
    <message>
        <source>%1 sends this request to another address (%2), which is not followed, so that no key and no word of yours goes there; connect to that address if it is the right one</source>
        <translation>%1 renvoie cette demande vers une autre adresse (%2), qui n&apos;est pas suivie, pour qu&apos;aucune clé ni aucun mot de vous n&apos;y aille ; connectez-vous à cette adresse si c&apos;est la bonne</translation>
    </message>
    <message>
        <source>%1: its answer cannot be read: %2; is it a server with the API of OpenAI?</source>
        <translation>%1 : sa réponse est illisible : %2 ; est-ce un serveur avec l&apos;API d&apos;OpenAI ?</translation>
    </message>
    <message>
        <source>%1: no safe connection: its certificate is not known or not valid, or it speaks no TLS (%2); nothing was sent</source>
        <translation>%1 : pas de connexion sûre : son certificat est inconnu ou non valable, ou il ne parle pas TLS (%2) ; rien n&apos;a été envoyé</translation>
    </message>
    <message>
        <source>%1: other users of this computer may read this key; take that away (chmod 600) and try again</source>
        <translation>%1 : d&apos;autres utilisateurs de cet ordinateur peuvent lire cette clé ; retirez-leur ce droit (chmod 600) et réessayez</translation>
    </message>
    <message>
        <source>%1: the key was not written; look whether the folder can be written and the disk has room</source>
        <translation>%1 : la clé n&apos;a pas été écrite ; vérifiez que le dossier est accessible en écriture et que le disque a de la place</translation>
    </message>
    <message>
        <source>%1: the picture could not be written for sending; close other programs and try again</source>
        <translation>%1 : l&apos;image n&apos;a pas pu être préparée pour l&apos;envoi ; fermez d&apos;autres programmes et réessayez</translation>
    </message>
    <message>
        <source>%1: the proxy in between refuses (%2); check the system&apos;s proxy settings</source>
        <translation>%1 : le proxy intermédiaire refuse (%2) ; vérifiez les réglages de proxy du système</translation>
    </message>
    <message>
        <source>%1: there is no such computer, or no network; check the address and the connection</source>
        <translation>%1 : cet ordinateur n&apos;existe pas, ou il n&apos;y a pas de réseau ; vérifiez l&apos;adresse et la connexion</translation>
    </message>
    <message>
        <source>%1: what goes there by http can be read by everybody on the way, also the key; write https://, or allow it for this server</source>
        <translation>%1 : ce qui y va en http peut être lu par tous en chemin, la clé aussi ; écrivez https://, ou autorisez-le pour ce serveur</translation>
    </message>
    <message>
        <source>4-bit weights of bitsandbytes are not read there: the commands take the model in 16 bit; answers differ a little. For less memory look for an AWQ, GPTQ or FP8 version of the model</source>
        <translation>Les poids 4 bits de bitsandbytes n&apos;y sont pas lus : les commandes prennent le modèle en 16 bits ; les réponses diffèrent un peu. Pour moins de mémoire, cherchez une version AWQ, GPTQ ou FP8 du modèle</translation>
    </message>
    <message>
        <source>SGLang takes its key as an argument, which other users of the server can see in the list of processes</source>
        <translation>SGLang prend sa clé en argument, que d&apos;autres utilisateurs du serveur peuvent voir dans la liste des processus</translation>
    </message>
    <message>
        <source>a call of a tool cannot be read</source>
        <translation>un appel d&apos;outil est illisible</translation>
    </message>
    <message>
        <source>a choice is no object</source>
        <translation>un choix n&apos;est pas un objet</translation>
    </message>
    <message>
        <source>a message is no object</source>
        <translation>un message n&apos;est pas un objet</translation>
    </message>
    <message>
        <source>a piece of the reply is longer than any reply</source>
        <translation>un morceau de la réponse est plus long que toute réponse</translation>
    </message>
    <message>
        <source>a piece of the reply is no JSON</source>
        <translation>un morceau de la réponse n&apos;est pas du JSON</translation>
    </message>
    <message>
        <source>a piece of the reply is no object</source>
        <translation>un morceau de la réponse n&apos;est pas un objet</translation>
    </message>
    <message>
        <source>a server begins every reply anew; ask for the rest in words of your own, or let it reply once more</source>
        <translation>un serveur recommence chaque réponse ; demandez le reste avec vos mots, ou laissez-le répondre à nouveau</translation>
    </message>
    <message>
        <source>a server takes messages, not a prompt with the model&apos;s own markers; ask with --prompt, or load the model on this computer</source>
        <translation>un serveur prend des messages, pas une invite avec les marques du modèle ; demandez avec --prompt, ou chargez le modèle sur cet ordinateur</translation>
    </message>
    <message>
        <source>a server&apos;s adapters are models of its list; an adapter of this computer cannot be used there</source>
        <translation>les adaptateurs d&apos;un serveur sont des modèles de sa liste ; un adaptateur de cet ordinateur n&apos;y est pas utilisable</translation>
    </message>
    <message>
        <source>an adapter&apos;s parts in the towers are not applied on several cards: merge the adapter, or take one card</source>
        <translation>les parties d&apos;un adaptateur dans les tours ne sont pas appliquées sur plusieurs cartes : fusionnez l&apos;adaptateur, ou prenez une seule carte</translation>
    </message>
    <message>
        <source>an adapter&apos;s parts in the towers are not applied: merge the adapter</source>
        <translation>les parties d&apos;un adaptateur dans les tours ne sont pas appliquées : fusionnez l&apos;adaptateur</translation>
    </message>
    <message>
        <source>an adapter&apos;s parts in the towers need an option that vLLM calls experimental (--enable-tower-connector-lora)</source>
        <translation>les parties d&apos;un adaptateur dans les tours demandent une option que vLLM dit expérimentale (--enable-tower-connector-lora)</translation>
    </message>
    <message>
        <source>it begins with &quot;%1&quot;</source>
        <translation>elle commence par « %1 »</translation>
    </message>
    <message>
        <source>its content is no text</source>
        <translation>le contenu n&apos;est pas du texte</translation>
    </message>
    <message>
        <source>its list of models has no end</source>
        <translation>la liste des modèles n&apos;a pas de fin</translation>
    </message>
    <message>
        <source>its list of models has no list &quot;data&quot;</source>
        <translation>la liste des modèles n&apos;a pas de liste « data »</translation>
    </message>
    <message>
        <source>its list of models is no JSON</source>
        <translation>la liste des modèles n&apos;est pas du JSON</translation>
    </message>
    <message>
        <source>its thoughts are no text</source>
        <translation>les pensées ne sont pas du texte</translation>
    </message>
    <message>
        <source>limits for single devices: a server takes one share of each card&apos;s memory (%1)</source>
        <translation>limites par appareil : un serveur prend la même part de la mémoire de chaque carte (%1)</translation>
    </message>
    <message>
        <source>no server is connected; choose one of its models first</source>
        <translation>aucun serveur n&apos;est connecté ; choisissez d&apos;abord un de ses modèles</translation>
    </message>
    <message>
        <source>parts on the processor or on disk: there all of the model is on the cards, divided evenly</source>
        <translation>parties sur le processeur ou le disque : là-bas tout le modèle est sur les cartes, réparti également</translation>
    </message>
    <message>
        <source>stopped before the server had answered</source>
        <translation>arrêté avant que le serveur ait répondu</translation>
    </message>
    <message>
        <source>text only: both towers are loaded there</source>
        <translation>texte seulement : les deux tours y sont chargées</translation>
    </message>
    <message>
        <source>the drafting assistant is left out of the commands</source>
        <translation>l&apos;assistant d&apos;ébauches est laissé hors des commandes</translation>
    </message>
    <message>
        <source>the folder %1 is this computer&apos;s: copy it to the server and write its path there</source>
        <translation>le dossier %1 est sur cet ordinateur : copiez-le sur le serveur et écrivez son chemin là-bas</translation>
    </message>
    <message>
        <source>the reply has no &quot;choices&quot;</source>
        <translation>la réponse n&apos;a pas de « choices »</translation>
    </message>
    <message>
        <source>the reply has no end</source>
        <translation>la réponse n&apos;a pas de fin</translation>
    </message>
    <message>
        <source>the reply is empty</source>
        <translation>la réponse est vide</translation>
    </message>
    <message>
        <source>the reply is neither a stream nor JSON</source>
        <translation>la réponse n&apos;est ni un flux ni du JSON</translation>
    </message>
    <message>
        <source>the table of per-layer embeddings is on the cards as well</source>
        <translation>la table des plongements par couche est aussi sur les cartes</translation>
    </message>
    <message>
        <source>which part is on which card: there every layer is divided over all cards</source>
        <translation>quelle partie est sur quelle carte : là-bas chaque couche est répartie sur toutes les cartes</translation>
    </message>
    <message>
        <source>%1: the file for tokens cannot be made; name one in a folder that is there and can be written</source>
        <translation>%1 : le fichier des jetons ne peut pas être créé ; indiquez-en un dans un dossier qui existe et où l&apos;on peut écrire</translation>
    </message>
    <message>
        <source>%1: the file for tokens cannot be written; make room on the disk, or name one elsewhere</source>
        <translation>%1 : le fichier des jetons ne peut pas être écrit ; faites de la place sur le disque, ou indiquez-en un ailleurs</translation>
    </message>
    <message>
        <source>%1: other users may read or write this file with tokens; chmod 600 keeps it to you</source>
        <translation>%1 : d&apos;autres utilisateurs peuvent lire ou écrire ce fichier de jetons ; chmod 600 vous le réserve</translation>
    </message>
    <message>
        <source>%1: line %2 is no token, expected at least 16 letters, digits or signs without spaces; delete the file to get a fresh one</source>
        <translation>%1 : la ligne %2 n&apos;est pas un jeton, il faut au moins 16 lettres, chiffres ou signes sans espaces ; supprimez le fichier pour en obtenir un nouveau</translation>
    </message>
    <message>
        <source>%1: the file for tokens is empty, expected one a line; delete it to get a fresh one</source>
        <translation>%1 : le fichier des jetons est vide, il en faut un par ligne ; supprimez-le pour en obtenir un nouveau</translation>
    </message>
    <message>
        <source>no folder for the pictures and recordings of requests can be made where the system keeps temporary files (%1); set TMPDIR to one that can be written</source>
        <translation>aucun dossier pour les images et les enregistrements des requêtes ne peut être créé là où le système garde ses fichiers temporaires (%1) ; donnez à TMPDIR un dossier où l&apos;on peut écrire</translation>
    </message>
    <message>
        <source>a picture or a recording of the request cannot be written to the system&apos;s folder for temporary files; its disk may be full</source>
        <translation>une image ou un enregistrement de la requête ne peut pas être écrit dans le dossier du système pour les fichiers temporaires ; son disque est peut-être plein</translation>
    </message>
    <message>
        <source>%1: expected an address in numbers to listen at, such as 127.0.0.1, ::1 or 0.0.0.0 (everywhere)</source>
        <translation>%1 : il faut une adresse en chiffres où écouter, comme 127.0.0.1, ::1 ou 0.0.0.0 (partout)</translation>
    </message>
    <message>
        <source>port %1 of %2 cannot be listened at (%3); another program may have it: choose another port, or 0 for one that is free</source>
        <translation>le port %1 de %2 ne peut pas être écouté (%3) ; un autre programme l&apos;a peut-être : choisissez un autre port, ou 0 pour un port libre</translation>
    </message>
    <message>
        <source>the system has no sockets for a server (%1); close other programs</source>
        <translation>le système n&apos;a pas de sockets pour un serveur (%1) ; fermez d&apos;autres programmes</translation>
    </message>
    <message>
        <source>%1 %2 (--all fetches what is there)</source>
        <translation>%1 %2 (--all prend ce qu&apos;il y a)</translation>
    </message>
    <message>
        <source>%1 %2; expected OWNER/NAME, OWNER/NAME@REVISION or the address of a model&apos;s page</source>
        <translation>%1 %2 ; attendu : OWNER/NAME, OWNER/NAME@REVISION ou l&apos;adresse de la page d&apos;un modèle</translation>
    </message>
    <message>
        <source>%1 (it says %2)</source>
        <translation>%1 (il dit %2)</translation>
    </message>
    <message>
        <source>%1 at the hub begins with no header of a .safetensors file, so it is none; choose another model</source>
        <translation>%1 n&apos;y commence pas par l&apos;en-tête d&apos;un fichier .safetensors, ce n&apos;en est donc pas un ; choisissez un autre modèle</translation>
    </message>
    <message>
        <source>%1 comes compressed (%2) though the plain bytes were asked for; check the network&apos;s proxy</source>
        <translation>%1 arrive compressé (%2) alors que les octets eux-mêmes étaient demandés ; vérifiez le proxy du réseau</translation>
    </message>
    <message>
        <source>%1: holds %2 GGUF models: %3; give one of these files</source>
        <translation>%1 : contient %2 modèles GGUF : %3 ; donnez l’un de ces fichiers</translation>
    </message>
    <message>
        <source>has projectors, assistants or parts of GGUF models and no whole model: look for the repository that they belong to</source>
        <translation>a des projecteurs, des assistants ou des parties de modèles GGUF et aucun modèle entier : cherchez le dépôt auquel ils appartiennent</translation>
    </message>
    <message>
        <source>has neither a .safetensors file in its own folder nor a GGUF model, so there is nothing to load</source>
        <translation>n&apos;a ni fichier .safetensors dans son propre dossier ni modèle GGUF, il n&apos;y a donc rien à charger</translation>
    </message>
    <message>
        <source>%1 has no GGUF model; leave &quot;:%2&quot; out</source>
        <translation>%1 n&apos;a pas de modèle GGUF ; retirez « :%2 »</translation>
    </message>
    <message>
        <source>%1 has no GGUF model of the quantization %2; it has: %3</source>
        <translation>%1 n&apos;a pas de modèle GGUF dans la quantification %2 ; il a : %3</translation>
    </message>
    <message>
        <source>names no quantization behind &apos;:&apos;</source>
        <translation>ne nomme aucune quantification derrière « : »</translation>
    </message>
    <message>
        <source>%1 does not begin as a GGUF file does</source>
        <translation>%1 ne commence pas comme un fichier GGUF</translation>
    </message>
    <message>
        <source>%1 has %2 bytes at %3, its list of files says %4: it was changed meanwhile, or the list is wrong; begin again</source>
        <translation>%1 a %2 octets chez %3, sa liste de fichiers dit %4 : il a été changé entre-temps, ou la liste est fausse ; recommencez</translation>
    </message>
    <message>
        <source>%1 has %2 bytes, expected %3</source>
        <translation>%1 a %2 octets, attendu : %3</translation>
    </message>
    <message>
        <source>%1 has had too many requests from this address; try again in five minutes, or set HF_TOKEN</source>
        <translation>%1 a reçu trop de requêtes de cette adresse ; réessayez dans cinq minutes, ou définissez HF_TOKEN</translation>
    </message>
    <message>
        <source>%1 has no revision %2; leave out what stands behind &apos;@&apos;, or name a branch, a tag or a commit that its page lists</source>
        <translation>%1 n&apos;a pas de révision %2 ; omettez ce qui suit « @ », ou nommez une branche, une étiquette ou un commit que sa page donne</translation>
    </message>
    <message>
        <source>%1 has sent nothing for too long</source>
        <translation>%1 n&apos;a rien envoyé depuis trop longtemps</translation>
    </message>
    <message>
        <source>%1 has the checksum %2 at %3, its list of files says %4: it was changed meanwhile; begin again</source>
        <translation>%1 a la somme de contrôle %2 chez %3, sa liste de fichiers dit %4 : il a été changé entre-temps ; recommencez</translation>
    </message>
    <message>
        <source>%1 has trouble of its own (status %2); try again later, what has arrived is kept</source>
        <translation>%1 a lui-même des ennuis (état %2) ; réessayez plus tard, ce qui est arrivé reste</translation>
    </message>
    <message>
        <source>%1 holds no token: expected one word such as hf_... ; copy it again from your settings page at the hub</source>
        <translation>%1 ne contient pas de jeton : attendu un mot comme hf_... ; copiez-le à nouveau depuis la page de vos réglages sur le hub</translation>
    </message>
    <message>
        <source>%1 is a link that leads nowhere or out of the folder</source>
        <translation>%1 est un lien qui ne mène nulle part ou hors du dossier</translation>
    </message>
    <message>
        <source>%1 is no address; check HF_ENDPOINT</source>
        <translation>%1 n&apos;est pas une adresse ; vérifiez HF_ENDPOINT</translation>
    </message>
    <message>
        <source>%1 is no list of downloads that this Belfry can read; move it away, and the list begins anew</source>
        <translation>%1 n&apos;est pas une liste de téléchargements que ce Belfry sait lire ; déplacez-la, et la liste recommence</translation>
    </message>
    <message>
        <source>%1 is no plain file; remove it and try again</source>
        <translation>%1 n&apos;est pas un simple fichier ; retirez-le et réessayez</translation>
    </message>
    <message>
        <source>%1 is not found: check the network connection</source>
        <translation>%1 est introuvable : vérifiez la connexion au réseau</translation>
    </message>
    <message>
        <source>%1 is one of Ollama&apos;s: delete it with &quot;ollama rm %1&quot;</source>
        <translation>%1 appartient à Ollama : supprimez-le avec « ollama rm %1 »</translation>
    </message>
    <message>
        <source>%1 is one of the folders of a download: others would go with it. Delete the download (%2) with a file manager</source>
        <translation>%1 est un des dossiers d&apos;un téléchargement : d&apos;autres partiraient avec. Supprimez le téléchargement (%2) avec un gestionnaire de fichiers</translation>
    </message>
    <message>
        <source>%1 is shorter at %2 than its list of files says: it was changed meanwhile; begin again</source>
        <translation>%1 est plus court chez %2 que ne le dit sa liste de fichiers : il a été changé entre-temps ; recommencez</translation>
    </message>
    <message>
        <source>%1 is there and is another file (%2); nothing is overwritten: choose an empty folder, or move it away</source>
        <translation>%1 existe et c&apos;est un autre fichier (%2) ; rien n&apos;est écrasé : choisissez un dossier vide, ou déplacez-le</translation>
    </message>
    <message>
        <source>%1 leads to %2, %3; check HF_ENDPOINT and the network&apos;s proxy</source>
        <translation>%1 mène à %2, %3 ; vérifiez HF_ENDPOINT et le proxy du réseau</translation>
    </message>
    <message>
        <source>%1 offers no search: name the model by OWNER/NAME</source>
        <translation>%1 n&apos;offre pas de recherche : nommez le modèle par OWNER/NAME</translation>
    </message>
    <message>
        <source>%1 sends a web page, expected JSON: is this network waiting for a sign-in? Open it in a browser, or check HF_ENDPOINT</source>
        <translation>%1 envoie une page web, attendu du JSON : ce réseau attend-il une connexion ? Ouvrez-la dans un navigateur, ou vérifiez HF_ENDPOINT</translation>
    </message>
    <message>
        <source>%1 sends more bytes of %2 than the %3 that it has; fetch it again later</source>
        <translation>%1 envoie plus d&apos;octets de %2 que les %3 qu&apos;il a ; reprenez-le plus tard</translation>
    </message>
    <message>
        <source>%1 sends more than %2 bytes about %3, which no list has; check HF_ENDPOINT</source>
        <translation>%1 envoie plus de %2 octets sur %3, ce qu&apos;aucune liste n&apos;a ; vérifiez HF_ENDPOINT</translation>
    </message>
    <message>
        <source>%1 takes too long to answer</source>
        <translation>%1 met trop de temps à répondre</translation>
    </message>
    <message>
        <source>%1: %2 answered with status %3, expected 200; if HF_ENDPOINT is set, check that it is a hub</source>
        <translation>%1 : %2 a répondu avec l&apos;état %3, attendu 200 ; si HF_ENDPOINT est défini, vérifiez que c&apos;est un hub</translation>
    </message>
    <message>
        <source>%1: %2 bytes are on the disk, expected %3: does another program write there? Try again</source>
        <translation>%1 : %2 octets sont sur le disque, attendu %3 : un autre programme y écrit-il ? Réessayez</translation>
    </message>
    <message>
        <source>%1: %2 bytes came, %3 were asked for; check the network&apos;s proxy</source>
        <translation>%1 : %2 octets sont arrivés, %3 étaient demandés ; vérifiez le proxy du réseau</translation>
    </message>
    <message>
        <source>%1: %2 does not lie in %3, where it was found (a link leads there): delete it with a file manager</source>
        <translation>%1 : %2 n&apos;est pas dans %3, où il a été trouvé (un lien y mène) : supprimez-le avec un gestionnaire de fichiers</translation>
    </message>
    <message>
        <source>%1: %2 does not take the token: it is wrong or has expired; make a new one on your settings page there, or unset HF_TOKEN</source>
        <translation>%1 : %2 n&apos;accepte pas le jeton : il est faux ou a expiré ; faites-en un nouveau sur la page de vos réglages là-bas, ou retirez HF_TOKEN</translation>
    </message>
    <message>
        <source>%1: %2 refuses access to this token: it lacks the permission (a fine-grained token names what it may read): set HF_TOKEN to one that has it</source>
        <translation>%1 : %2 refuse l&apos;accès à ce jeton : il lui manque la permission (un jeton à droits fins nomme ce qu&apos;il peut lire) : donnez à HF_TOKEN un jeton qui l&apos;a</translation>
    </message>
    <message>
        <source>%1: %2 refuses access; set HF_TOKEN if the model is yours</source>
        <translation>%1 : %2 refuse l&apos;accès ; définissez HF_TOKEN si le modèle est à vous</translation>
    </message>
    <message>
        <source>%1: %2, expected %3 bytes</source>
        <translation>%1 : %2, attendu : %3 octets</translation>
    </message>
    <message>
        <source>%1: %2: %3; check the disk and try again</source>
        <translation>%1 : %2 : %3 ; vérifiez le disque et réessayez</translation>
    </message>
    <message>
        <source>%1: %2: %3; choose a folder that you may write to with --to or HF_HUB_CACHE</source>
        <translation>%1 : %2 : %3 ; choisissez avec --to ou HF_HUB_CACHE un dossier où vous pouvez écrire</translation>
    </message>
    <message>
        <source>%1: bytes from %2 on were asked for, what comes says %3; check the network&apos;s proxy</source>
        <translation>%1 : les octets à partir de %2 étaient demandés, ce qui arrive dit %3 ; vérifiez le proxy du réseau</translation>
    </message>
    <message>
        <source>%1: bytes from %2 on were asked for, what comes says nothing of its range; check the network&apos;s proxy</source>
        <translation>%1 : les octets à partir de %2 étaient demandés, ce qui arrive ne dit rien de sa plage ; vérifiez le proxy du réseau</translation>
    </message>
    <message>
        <source>%1: cannot be read; look whether it is a folder and whether you may open it</source>
        <translation>%1 : illisible ; regardez si c&apos;est un dossier et si vous pouvez l&apos;ouvrir</translation>
    </message>
    <message>
        <source>%1: cannot be removed: %2</source>
        <translation>%1 : ne peut pas être retiré : %2</translation>
    </message>
    <message>
        <source>%1: did not answer within %2 s and was skipped; if it is a network drive, look whether it is connected</source>
        <translation>%1 : n&apos;a pas répondu en %2 s et a été sauté ; si c&apos;est un lecteur réseau, regardez s&apos;il est connecté</translation>
    </message>
    <message>
        <source>%1: expected an absolute path without line breaks</source>
        <translation>%1 : attendu un chemin absolu sans sauts de ligne</translation>
    </message>
    <message>
        <source>%1: holds more than %2 entries, or folders with more than %3; the rest was not looked at. Name a folder further down</source>
        <translation>%1 : contient plus de %2 entrées, ou des dossiers de plus de %3 ; le reste n&apos;a pas été regardé. Nommez un dossier plus bas</translation>
    </message>
    <message>
        <source>%1: it is no longer there; begin again</source>
        <translation>%1 : ce n&apos;est plus là ; recommencez</translation>
    </message>
    <message>
        <source>%1: its answer about %2 %3; nothing was fetched. Is HF_ENDPOINT a hub?</source>
        <translation>%1 : sa réponse sur %2 %3 ; rien n&apos;a été pris. HF_ENDPOINT est-il un hub ?</translation>
    </message>
    <message>
        <source>%1: its licence has to be accepted before it can be fetched: open %2 in a browser, sign in, accept, then set HF_TOKEN and try again</source>
        <translation>%1 : sa licence doit être acceptée avant qu&apos;on puisse le prendre : ouvrez %2 dans un navigateur, connectez-vous, acceptez, puis définissez HF_TOKEN et réessayez</translation>
    </message>
    <message>
        <source>%1: its licence has to be accepted before it can be fetched: open %2 in a browser, sign in, accept, then try again</source>
        <translation>%1 : sa licence doit être acceptée avant qu&apos;on puisse le prendre : ouvrez %2 dans un navigateur, connectez-vous, acceptez, puis réessayez</translation>
    </message>
    <message>
        <source>%1: not found at %2; check the name: OWNER/NAME as on the model&apos;s page</source>
        <translation>%1 : introuvable chez %2 ; vérifiez le nom : OWNER/NAME comme sur la page du modèle</translation>
    </message>
    <message>
        <source>%1: not offered where you are (status 451); choose another model</source>
        <translation>%1 : n&apos;est pas offert là où vous êtes (état 451) ; choisissez un autre modèle</translation>
    </message>
    <message>
        <source>%1: several in the library have this name; give the folder of one:%2</source>
        <translation>%1 : plusieurs dans la bibliothèque ont ce nom ; donnez le dossier de l&apos;un d&apos;eux :%2</translation>
    </message>
    <message>
        <source>%1: the checksum of what came is %2, expected %3; check the network&apos;s proxy</source>
        <translation>%1 : la somme de contrôle de ce qui est arrivé est %2, attendu %3 ; vérifiez le proxy du réseau</translation>
    </message>
    <message>
        <source>%1: the checksum of what came is %2, expected %3; it was thrown away. Try again; if it stays so, the network or a proxy changes files</source>
        <translation>%1 : la somme de contrôle de ce qui est arrivé est %2, attendu %3 ; c&apos;est jeté. Réessayez ; si cela reste ainsi, le réseau ou un proxy change les fichiers</translation>
    </message>
    <message>
        <source>%1: the disk is full; what has arrived is kept: make room and give the same command again</source>
        <translation>%1 : le disque est plein ; ce qui est arrivé reste : faites de la place et redonnez la même commande</translation>
    </message>
    <message>
        <source>%1: the disk takes no file of this size (FAT: 4 GiB); choose a folder on another disk with --to or HF_HUB_CACHE</source>
        <translation>%1 : le disque ne prend pas de fichier de cette taille (FAT : 4 Gio) ; choisissez un dossier sur un autre disque avec --to ou HF_HUB_CACHE</translation>
    </message>
    <message>
        <source>%1: the library has no adapter of this name</source>
        <translation>%1 : la bibliothèque n&apos;a pas d&apos;adaptateur de ce nom</translation>
    </message>
    <message>
        <source>%1: the library has no model of this name</source>
        <translation>%1 : la bibliothèque n&apos;a pas de modèle de ce nom</translation>
    </message>
    <message>
        <source>%1: the list of the files of %2 goes on and on; check HF_ENDPOINT</source>
        <translation>%1 : la liste des fichiers de %2 n&apos;en finit pas ; vérifiez HF_ENDPOINT</translation>
    </message>
    <message>
        <source>%1: the list of the files of %2 goes on at %3, which is another host: refused; check HF_ENDPOINT</source>
        <translation>%1 : la liste des fichiers de %2 continue à %3, qui est un autre hôte : refusé ; vérifiez HF_ENDPOINT</translation>
    </message>
    <message>
        <source>%1: the search was ended</source>
        <translation>%1 : la recherche a été arrêtée</translation>
    </message>
    <message>
        <source>%1: there is no such model at %2, or it is private: check the name and whose token HF_TOKEN is</source>
        <translation>%1 : il n&apos;y a pas de tel modèle chez %2, ou il est privé : vérifiez le nom et à qui est le jeton HF_TOKEN</translation>
    </message>
    <message>
        <source>%1: there is no such model at %2, or it is private: check the name, or set HF_TOKEN to a token that may read it</source>
        <translation>%1 : il n&apos;y a pas de tel modèle chez %2, ou il est privé : vérifiez le nom, ou donnez à HF_TOKEN un jeton qui peut le lire</translation>
    </message>
    <message>
        <source>%1: was not looked at to its end: %2</source>
        <translation>%1 : n&apos;a pas été regardé jusqu&apos;au bout : %2</translation>
    </message>
    <message>
        <source>%1: what it found goes on at %2, which is another host: refused; check HF_ENDPOINT</source>
        <translation>%1 : ce qu&apos;il a trouvé continue à %2, qui est un autre hôte : refusé ; vérifiez HF_ENDPOINT</translation>
    </message>
    <message>
        <source>%1: what it found is %2, expected a list of models; is HF_ENDPOINT a hub?</source>
        <translation>%1 : ce qu&apos;il a trouvé est %2, attendu une liste de modèles ; HF_ENDPOINT est-il un hub ?</translation>
    </message>
    <message>
        <source>%1; move it away, and the list of downloads begins anew</source>
        <translation>%1 ; déplacez-le, et la liste des téléchargements recommence</translation>
    </message>
    <message>
        <source>%1; what has arrived is kept: give the same command again</source>
        <translation>%1 ; ce qui est arrivé reste : redonnez la même commande</translation>
    </message>
    <message>
        <source>HF_ENDPOINT %1 is not encrypted, and a token would be read on the way: use https, or unset HF_TOKEN</source>
        <translation>HF_ENDPOINT %1 n&apos;est pas chiffré, un jeton serait lu en chemin : prenez https, ou retirez HF_TOKEN</translation>
    </message>
    <message>
        <source>HF_ENDPOINT is %1, expected an address such as %2</source>
        <translation>HF_ENDPOINT est %1, attendu une adresse comme %2</translation>
    </message>
    <message>
        <source>a redirect without an address</source>
        <translation>une redirection sans adresse</translation>
    </message>
    <message>
        <source>a search</source>
        <translation>une recherche</translation>
    </message>
    <message>
        <source>a web page comes instead of %1: is this network waiting for a sign-in? Open it in a browser, then try again</source>
        <translation>une page web arrive au lieu de %1 : ce réseau attend-il une connexion ? Ouvrez-la dans un navigateur, puis réessayez</translation>
    </message>
    <message>
        <source>and from there on and on (more than %1 times)</source>
        <translation>et de là toujours plus loin (plus de %1 fois)</translation>
    </message>
    <message>
        <source>another host, where only the bytes of files may come from</source>
        <translation>un autre hôte, d&apos;où seuls les octets des fichiers peuvent venir</translation>
    </message>
    <message>
        <source>another program fetches the same file and has not been done in %1 s (%2 is locked): let it end, then try again</source>
        <translation>un autre programme prend le même fichier et n&apos;a pas fini en %1 s (%2 est verrouillé) : laissez-le finir, puis réessayez</translation>
    </message>
    <message>
        <source>at most %1 folders are kept; name one above several of them</source>
        <translation>au plus %1 dossiers sont gardés ; nommez-en un au-dessus de plusieurs</translation>
    </message>
    <message>
        <source>belfry-cli get %1 completes it</source>
        <translation>belfry-cli get %1 le complète</translation>
    </message>
    <message>
        <source>belfry-cli get %1 goes on with it</source>
        <translation>belfry-cli get %1 le continue</translation>
    </message>
    <message>
        <source>belfry-cli&apos;s network part (%1) cannot be used (%2); install Belfry whole and Qt 6 Network, or fetch the model with Python&apos;s &quot;hf download&quot;</source>
        <translation>la partie réseau de belfry-cli (%1) est inutilisable (%2) ; installez Belfry en entier et Qt 6 Network, ou prenez le modèle avec « hf download » de Python</translation>
    </message>
    <message>
        <source>calls it %1, which is no name</source>
        <translation>l&apos;appelle %1, ce qui n&apos;est pas un nom</translation>
    </message>
    <message>
        <source>cannot be copied</source>
        <translation>ne peut pas être copié</translation>
    </message>
    <message>
        <source>cannot be deleted (%1); what came before it is gone. Close what uses it, or delete it with a file manager</source>
        <translation>ne peut pas être supprimé (%1) ; ce qui précède est parti. Fermez ce qui l&apos;utilise, ou supprimez-le avec un gestionnaire de fichiers</translation>
    </message>
    <message>
        <source>cannot be emptied</source>
        <translation>ne peut pas être vidé</translation>
    </message>
    <message>
        <source>cannot be flushed</source>
        <translation>ne peut pas être mis sur le disque</translation>
    </message>
    <message>
        <source>cannot be named</source>
        <translation>ne peut pas être nommé</translation>
    </message>
    <message>
        <source>cannot be read (%1); nothing was deleted</source>
        <translation>illisible (%1) ; rien n&apos;a été supprimé</translation>
    </message>
    <message>
        <source>cannot be removed</source>
        <translation>ne peut pas être retiré</translation>
    </message>
    <message>
        <source>cannot be written</source>
        <translation>ne peut pas être écrit</translation>
    </message>
    <message>
        <source>ends with a dot or a blank, which Windows leaves out</source>
        <translation>finit par un point ou une espace, que Windows omet</translation>
    </message>
    <message>
        <source>enough</source>
        <translation>assez</translation>
    </message>
    <message>
        <source>get a Gemma 4 model: belfry-cli get google/gemma-4-E2B-it</source>
        <translation>prenez un modèle Gemma 4 : belfry-cli get google/gemma-4-E2B-it</translation>
    </message>
    <message>
        <source>get the adapter again</source>
        <translation>reprenez l&apos;adaptateur</translation>
    </message>
    <message>
        <source>get the file again</source>
        <translation>reprenez le fichier</translation>
    </message>
    <message>
        <source>get the model again</source>
        <translation>reprenez le modèle</translation>
    </message>
    <message>
        <source>get the model&apos;s own safetensors version; Belfry quantizes it while it loads</source>
        <translation>prenez la version safetensors du modèle lui-même ; Belfry la quantifie au chargement</translation>
    </message>
    <message>
        <source>has a part of more than 255 bytes</source>
        <translation>a une partie de plus de 255 octets</translation>
    </message>
    <message>
        <source>has an empty part between two &apos;/&apos;, or begins or ends with one</source>
        <translation>a une partie vide entre deux « / », ou commence ou finit par l&apos;un d&apos;eux</translation>
    </message>
    <message>
        <source>has its weights as .bin or .pt only, which can hold programs: Belfry reads .safetensors (the hub&apos;s page &quot;safetensors/convert&quot; makes them)</source>
        <translation>n&apos;a ses poids qu&apos;en .bin ou .pt, qui peuvent contenir des programmes : Belfry lit les .safetensors (la page « safetensors/convert » du hub les fait)</translation>
    </message>
    <message>
        <source>has no files</source>
        <translation>n&apos;a pas de fichiers</translation>
    </message>
    <message>
        <source>has the file name %1, which %2</source>
        <translation>a le nom de fichier %1, qui %2</translation>
    </message>
    <message>
        <source>holds a character that Windows does not allow in a file name (a drive letter, another separator)</source>
        <translation>contient un caractère que Windows n&apos;admet pas dans un nom de fichier (une lettre de lecteur, un autre séparateur)</translation>
    </message>
    <message>
        <source>holds a control character</source>
        <translation>contient un caractère de contrôle</translation>
    </message>
    <message>
        <source>holds more than a model does; nothing was deleted. Delete it with a file manager</source>
        <translation>contient plus qu&apos;un modèle ; rien n&apos;a été supprimé. Supprimez-le avec un gestionnaire de fichiers</translation>
    </message>
    <message>
        <source>is %1, expected a list of files</source>
        <translation>est %1, attendu une liste de fichiers</translation>
    </message>
    <message>
        <source>is empty or longer than 1024 bytes</source>
        <translation>est vide ou plus long que 1024 octets</translation>
    </message>
    <message>
        <source>&quot;ollama pull %1&quot; completes it</source>
        <translation>« ollama pull %1 » le complète</translation>
    </message>
    <message>
        <source>is no JSON (%1)</source>
        <translation>n&apos;est pas du JSON (%1)</translation>
    </message>
    <message>
        <source>is no address at %1</source>
        <translation>n&apos;est pas une adresse chez %1</translation>
    </message>
    <message>
        <source>is no model&apos;s name: &quot;--&quot;, &quot;..&quot; and &quot;.git&quot; at the end are not allowed</source>
        <translation>n&apos;est pas un nom de modèle : « -- », « .. » et « .git » à la fin ne sont pas permis</translation>
    </message>
    <message>
        <source>is no model&apos;s name: it begins or ends with &apos;-&apos; or &apos;.&apos;</source>
        <translation>n&apos;est pas un nom de modèle : il commence ou finit par « - » ou « . »</translation>
    </message>
    <message>
        <source>is no model&apos;s name: it has more than one &apos;/&apos;</source>
        <translation>n&apos;est pas un nom de modèle : il a plus d&apos;un « / »</translation>
    </message>
    <message>
        <source>is no model&apos;s name: it has no characters or more than 96</source>
        <translation>n&apos;est pas un nom de modèle : il n&apos;a aucun caractère ou plus de 96</translation>
    </message>
    <message>
        <source>is no model&apos;s name: letters, digits, &apos;-&apos;, &apos;_&apos; and &apos;.&apos; are allowed</source>
        <translation>n&apos;est pas un nom de modèle : lettres, chiffres, « - », « _ » et « . » sont permis</translation>
    </message>
    <message>
        <source>is no valid address</source>
        <translation>n&apos;est pas une adresse valide</translation>
    </message>
    <message>
        <source>is not UTF-8</source>
        <translation>n&apos;est pas de l&apos;UTF-8</translation>
    </message>
    <message>
        <source>is not there any more</source>
        <translation>n&apos;est plus là</translation>
    </message>
    <message>
        <source>is not whole</source>
        <translation>n&apos;est pas entier</translation>
    </message>
    <message>
        <source>is not whole: %1</source>
        <translation>n&apos;est pas entier : %1</translation>
    </message>
    <message>
        <source>is not whole: %1 are missing</source>
        <translation>n&apos;est pas entier : %1 manquent</translation>
    </message>
    <message>
        <source>is not whole: %1 is missing</source>
        <translation>n&apos;est pas entier : %1 manque</translation>
    </message>
    <message>
        <source>is quantized for MLX, which runs on Apple&apos;s processors alone</source>
        <translation>est quantifié pour MLX, qui ne tourne que sur les processeurs d&apos;Apple</translation>
    </message>
    <message>
        <source>is the beginning of a download: no file of the model is whole</source>
        <translation>est le début d&apos;un téléchargement : aucun fichier du modèle n&apos;est entier</translation>
    </message>
    <message>
        <source>is the name of a device on Windows</source>
        <translation>est le nom d&apos;un périphérique sous Windows</translation>
    </message>
    <message>
        <source>it has another size</source>
        <translation>il a une autre taille</translation>
    </message>
    <message>
        <source>its folder has changed; it was not deleted, nor what comes behind it. Search again</source>
        <translation>son dossier a changé ; ce n&apos;a pas été supprimé, ni ce qui suit. Cherchez à nouveau</translation>
    </message>
    <message>
        <source>leads out of its folder (&quot;.&quot; or &quot;..&quot;)</source>
        <translation>mène hors de son dossier (« . » ou « .. »)</translation>
    </message>
    <message>
        <source>%1: the file name %2 %3, so this computer cannot keep it; nothing was fetched; try another computer, or ask the owner to rename it</source>
        <translation>%1 : le nom de fichier %2 %3, donc cet ordinateur ne peut pas le conserver ; rien n’a été téléchargé. Essayez sur un autre ordinateur, ou demandez au propriétaire de le renommer</translation>
    </message>
    <message>
        <source>%1: this computer cannot keep %2 and %3 side by side; nothing was fetched; try another computer, or ask the owner to rename one</source>
        <translation>%1 : cet ordinateur ne peut pas conserver %2 et %3 côte à côte ; rien n’a été téléchargé. Essayez sur un autre ordinateur, ou demandez au propriétaire d’en renommer un</translation>
    </message>
    <message>
        <source>lists more than %1 files</source>
        <translation>nomme plus de %1 fichiers</translation>
    </message>
    <message>
        <source>lists something that is neither a file nor a folder</source>
        <translation>nomme quelque chose qui n&apos;est ni un fichier ni un dossier</translation>
    </message>
    <message>
        <source>names no model</source>
        <translation>ne nomme aucun modèle</translation>
    </message>
    <message>
        <source>names no revision behind &apos;@&apos;</source>
        <translation>ne nomme pas de révision après « @ »</translation>
    </message>
    <message>
        <source>no connection to %1: check the network and its proxy</source>
        <translation>pas de connexion à %1 : vérifiez le réseau et son proxy</translation>
    </message>
    <message>
        <source>no secure connection to %1: check the date of this computer and what sits between it and the network</source>
        <translation>pas de connexion sûre à %1 : vérifiez la date de cet ordinateur et ce qui est entre lui et le réseau</translation>
    </message>
    <message>
        <source>no thread for it: %1; close other programs and search again</source>
        <translation>pas de fil pour cela : %1 ; fermez d&apos;autres programmes et cherchez à nouveau</translation>
    </message>
    <message>
        <source>no token was typed: expected one word such as hf_... from your settings page at the hub</source>
        <translation>aucun jeton n&apos;a été saisi : attendu un mot comme hf_... de la page de vos réglages sur le hub</translation>
    </message>
    <message>
        <source>not enough room: %1 bytes are missing and %2 shall stay free, the disk has %3 free; make room, or choose another disk with --to or HF_HUB_CACHE</source>
        <translation>pas assez de place : %1 octets manquent et %2 doivent rester libres, le disque en a %3 de libres ; faites de la place, ou choisissez un autre disque avec --to ou HF_HUB_CACHE</translation>
    </message>
    <message>
        <source>see the adapters that Belfry runs: engine/lora/ADAPTER_CONFIG.md</source>
        <translation>les adaptateurs que Belfry sait utiliser : engine/lora/ADAPTER_CONFIG.md</translation>
    </message>
    <message>
        <source>stopped; what has arrived is kept: the same command goes on from there</source>
        <translation>arrêté ; ce qui est arrivé reste : la même commande continue de là</translation>
    </message>
    <message>
        <source>tells no checksum of %1, without which it cannot be verified</source>
        <translation>ne donne pas de somme de contrôle de %1, sans laquelle on ne peut le vérifier</translation>
    </message>
    <message>
        <source>tells no commit (&quot;sha&quot; with 40 hexadecimal digits)</source>
        <translation>ne donne pas de commit (« sha » de 40 chiffres hexadécimaux)</translation>
    </message>
    <message>
        <source>tells no possible size of %1</source>
        <translation>ne donne pas de taille possible de %1</translation>
    </message>
    <message>
        <source>tells two sizes of %1</source>
        <translation>donne deux tailles de %1</translation>
    </message>
    <message>
        <source>the address that %1 gave for %2 has expired or is refused (status %3); what has arrived is kept: try again</source>
        <translation>l&apos;adresse que %1 a donnée pour %2 a expiré ou est refusée (état %3) ; ce qui est arrivé reste : réessayez</translation>
    </message>
    <message>
        <source>the connection to %1 ended too early</source>
        <translation>la connexion à %1 a fini trop tôt</translation>
    </message>
    <message>
        <source>the download ended: %1; close other programs and give the same command again</source>
        <translation>le téléchargement a fini : %1 ; fermez d&apos;autres programmes et redonnez la même commande</translation>
    </message>
    <message>
        <source>the folder cannot be made</source>
        <translation>le dossier ne peut pas être créé</translation>
    </message>
    <message>
        <source>the network is forbidden by %1, so nothing was asked of %2: lift that first</source>
        <translation>le réseau est interdit par %1, rien n&apos;a donc été demandé à %2 : levez d&apos;abord cela</translation>
    </message>
    <message>
        <source>the proxy on the way to %1 refuses: check http_proxy and https_proxy</source>
        <translation>le proxy sur le chemin de %1 refuse : vérifiez http_proxy et https_proxy</translation>
    </message>
    <message>
        <source>the system&apos;s keyring does not answer (%1): unlock it and try again, or set HF_TOKEN</source>
        <translation>le trousseau du système ne répond pas (%1) : déverrouillez-le et réessayez, ou définissez HF_TOKEN</translation>
    </message>
    <message>
        <source>there is no place for a token: set HOME or HF_HOME</source>
        <translation>il n&apos;y a pas de place pour un jeton : définissez HOME ou HF_HOME</translation>
    </message>
    <message>
        <source>there is no place for settings: set HOME (on Windows LOCALAPPDATA)</source>
        <translation>il n&apos;y a pas de place pour les réglages : définissez HOME (sous Windows LOCALAPPDATA)</translation>
    </message>
    <message>
        <source>there is no place to keep a token in: set HF_TOKEN</source>
        <translation>il n’y a pas d’endroit où garder un jeton : définissez HF_TOKEN</translation>
    </message>
    <message>
        <source>what %1 sends is no answer of a hub: check HF_ENDPOINT and the network</source>
        <translation>ce que %1 envoie n&apos;est pas une réponse d&apos;un hub : vérifiez HF_ENDPOINT et le réseau</translation>
    </message>
    <message>
        <source>what was typed</source>
        <translation>ce qui a été saisi</translation>
    </message>
    <message>
        <source>which is no address of a web server</source>
        <translation>ce qui n&apos;est pas l&apos;adresse d&apos;un serveur web</translation>
    </message>
    <message>
        <source>which is not encrypted: refused</source>
        <translation>ce qui n&apos;est pas chiffré : refusé</translation>
    </message>
    <message>
        <source>the engine&apos;s process cannot be started (%1: %2); start Belfry with --in-process to do without it</source>
        <translation>le processus du moteur ne peut pas être démarré (%1 : %2) ; lancez Belfry avec --in-process pour vous en passer</translation>
    </message>
    <message>
        <source>the answer has %1 bytes, which is more than the %2 that the engine&apos;s process can send at once; ask for less, or start Belfry with --in-process</source>
        <translation>la réponse compte %1 octets, plus que les %2 que le processus du moteur peut envoyer à la fois ; demandez moins, ou lancez Belfry avec --in-process</translation>
    </message>
    <message>
        <source>the request has %1 bytes, which is more than the %2 that the engine&apos;s process takes; shorten it</source>
        <translation>la demande compte %1 octets, plus que les %2 que le processus du moteur accepte ; raccourcissez-la</translation>
    </message>
    <message>
        <source>the engine&apos;s process was killed (%1): by the system, where memory is short, or by somebody</source>
        <translation>le processus du moteur a été tué (%1) : par le système, si la mémoire manque, ou par quelqu&apos;un</translation>
    </message>
    <message>
        <source>the engine&apos;s process crashed (%1)</source>
        <translation>le processus du moteur a planté (%1)</translation>
    </message>
    <message>
        <source>the engine&apos;s process ended by itself with the status %1</source>
        <translation>le processus du moteur s&apos;est terminé de lui-même avec l&apos;état %1</translation>
    </message>
    <message>
        <source>the engine&apos;s process is %1, this window is %2: the program was updated meanwhile; start Belfry again</source>
        <translation>le processus du moteur est %1, cette fenêtre est %2 : le programme a été mis à jour entre-temps ; relancez Belfry</translation>
    </message>
    <message>
        <source>the engine&apos;s process was started again, but the model could not be loaded into it: %1</source>
        <translation>le processus du moteur a été redémarré, mais le modèle n&apos;a pas pu y être rechargé : %1</translation>
    </message>
    <message>
        <source>stopped while the engine was started again</source>
        <translation>arrêté pendant le redémarrage du moteur</translation>
    </message>
    <message>
        <source>the engine&apos;s process sent something that cannot be read (%1) and was ended</source>
        <translation>le processus du moteur a envoyé quelque chose d&apos;illisible (%1) et a été arrêté</translation>
    </message>
    <message>
        <source>the engine&apos;s process said nothing for %1 seconds and was ended</source>
        <translation>le processus du moteur n&apos;a rien dit pendant %1 secondes et a été arrêté</translation>
    </message>
    <message>
        <source>the engine&apos;s process did not stop within %1 seconds and was ended</source>
        <translation>le processus du moteur ne s&apos;est pas arrêté en %1 secondes et a été tué</translation>
    </message>
    <message>
        <source>the graphics card failed: %1</source>
        <translation>la carte graphique a failli : %1</translation>
    </message>
    <message>
        <source>%1. The next load starts the engine again; where that ends so as well, place less on the graphics card, or start Belfry with --in-process</source>
        <translation>%1. Le prochain chargement redémarre le moteur ; s&apos;il finit de même, placez moins sur la carte graphique, ou lancez Belfry avec --in-process</translation>
    </message>
    <message>
        <source>%1. That happened more than once, so it is not tried again by itself: load the model with other options, or start Belfry with --in-process</source>
        <translation>%1. C&apos;est arrivé plus d&apos;une fois, et rien n&apos;est retenté de soi-même : chargez le modèle avec d&apos;autres options, ou lancez Belfry avec --in-process</translation>
    </message>
    <message>
        <source>%1, and cannot be started again: %2</source>
        <translation>%1, et ne peut pas être redémarré : %2</translation>
    </message>
    <message>
        <source>%1. The engine was started again and loads the same model to the same places: ask again</source>
        <translation>%1. Le moteur a été redémarré et recharge le même modèle aux mêmes endroits : posez la question de nouveau</translation>
    </message>
    <message>
        <source>the engine ended more than once, and nothing is loaded any more: load the model again, with other options where it ends once more</source>
        <translation>le moteur s&apos;est arrêté plus d&apos;une fois et plus rien n&apos;est chargé : rechargez le modèle, avec d&apos;autres options s&apos;il s&apos;arrête encore</translation>
    </message>
    <message>
        <source>the system&apos;s keyring does not answer (%1): unlock it and try again, or type the server&apos;s key once more</source>
        <translation>le trousseau du système ne répond pas (%1) : déverrouillez-le et réessayez, ou tapez encore une fois la clé du serveur</translation>
    </message>
    <message>
        <source>%1 holds no certificate: expected a PEM file, which has lines like -----BEGIN CERTIFICATE-----; ask whoever runs the server for the certificate of its authority</source>
        <translation>%1 ne contient aucun certificat : un fichier PEM est attendu, avec des lignes comme -----BEGIN CERTIFICATE----- ; demandez à qui gère le serveur le certificat de son autorité</translation>
    </message>
    <message>
        <source>make one adapter of it (below), or merge it</source>
        <translation>faites-en un seul adaptateur (ci-dessous), ou fusionnez-le</translation>
    </message>
    <message>
        <source>merge it</source>
        <translation>fusionnez-le</translation>
    </message>
    <message>
        <source>the adapter %1 at strength %2: a server applies it at full strength; for another one: %3</source>
        <translation>l&apos;adaptateur %1 à la force %2 : un serveur l&apos;applique à pleine force ; pour une autre : %3</translation>
    </message>
    <message>
        <source>several adapters at once: a server applies one to a question, chosen as its model; to have all: %1</source>
        <translation>plusieurs adaptateurs à la fois : un serveur en applique un à une question, choisi comme son modèle ; pour les avoir tous : %1</translation>
    </message>
    <message>
        <source>%1 cards: every layer is divided over 1, 2, 4 or 8 of them, and this model cannot be cut into stages, because layers read the keys and values of others; the commands take %2</source>
        <translation>%1 cartes : chaque couche est répartie sur 1, 2, 4 ou 8 d&apos;entre elles, et ce modèle ne se découpe pas en étapes, parce que des couches lisent les clés et valeurs d&apos;autres ; les commandes en prennent %2</translation>
    </message>
    <message>
        <source>%1 stages of the same size one behind the other, each on %2 cards: fewer tokens a second than the same cards side by side give where their number is 1, 2, 4 or 8</source>
        <translation>%1 étapes de même taille l&apos;une derrière l&apos;autre, chacune sur ce nombre de cartes : %2 ; moins de tokens par seconde que des cartes côte à côte, ce qui ne va qu&apos;avec 1, 2, 4 ou 8</translation>
    </message>
    <message>
        <source>%1: its certificate was valid until %2, so nothing was sent: let whoever runs the server renew it; if this computer&apos;s clock is wrong, set it right</source>
        <translation>%1 : son certificat était valable jusqu&apos;au %2, donc rien n&apos;a été envoyé : qui gère le serveur doit le renouveler ; si l&apos;horloge de cet ordinateur est fausse, réglez-la</translation>
    </message>
    <message>
        <source>%1: its certificate is valid from %2 on, so nothing was sent: look whether this computer&apos;s clock is right</source>
        <translation>%1 : son certificat est valable à partir du %2, donc rien n&apos;a été envoyé : vérifiez l&apos;horloge de cet ordinateur</translation>
    </message>
    <message>
        <source>%1: its certificate is another host&apos;s (%2), so nothing was sent: use the name that stands there if it is the same server; else somebody is in between</source>
        <translation>%1 : son certificat est celui d&apos;un autre hôte (%2), donc rien n&apos;a été envoyé : utilisez le nom qui y figure si c&apos;est le même serveur ; sinon quelqu&apos;un est entre les deux</translation>
    </message>
    <message>
        <source>%1: its certificate was taken back by who signed it, so nothing was sent: let whoever runs the server get a new one</source>
        <translation>%1 : son certificat a été révoqué par qui l&apos;a signé, donc rien n&apos;a été envoyé : qui gère le serveur doit en obtenir un nouveau</translation>
    </message>
    <message>
        <source>%1: nobody whom this computer trusts vouches for its certificate (signed by %2), so nothing was sent: if that is an authority of your own, give its certificate as a PEM file (below the server&apos;s address, or --server-ca FILE)</source>
        <translation>%1 : personne à qui cet ordinateur fait confiance ne répond de son certificat (signé par %2), donc rien n&apos;a été envoyé : si c&apos;est une autorité à vous, donnez son certificat en fichier PEM (sous l&apos;adresse du serveur, ou --server-ca FILE)</translation>
    </message>
    <message>
        <source>%1: %2 (%3) cannot be stacked, because that is more than a sum of low-rank updates; merge the adapters into the model instead (merge without --stack)</source>
        <translation>%1 : %2 (%3) ne s&apos;empile pas, car c&apos;est plus qu&apos;une somme de modifications de rang faible ; fusionnez plutôt les adaptateurs dans le modèle (merge sans --stack)</translation>
    </message>
    <message>
        <source>the replacement of rows of a table</source>
        <translation>le remplacement de lignes d&apos;une table</translation>
    </message>
    <message>
        <source>the replacement of a whole tensor</source>
        <translation>le remplacement d&apos;un tenseur entier</translation>
    </message>
    <message>
        <source>a DoRA update</source>
        <translation>une modification DoRA</translation>
    </message>
    <message>
        <source>a bias of an update</source>
        <translation>un biais d&apos;une modification</translation>
    </message>
    <message>
        <source>an update of experts</source>
        <translation>une modification d&apos;experts</translation>
    </message>
    <message>
        <source>nothing to stack: no adapter was given that changes this model</source>
        <translation>rien à empiler : aucun adaptateur donné ne change ce modèle</translation>
    </message>
    <message>
        <source>the adapters have rank %1 together, at most %2 can be stacked; merge them into the model instead (merge without --stack)</source>
        <translation>les adaptateurs ont ensemble le rang %1, au plus %2 s&apos;empilent ; fusionnez-les plutôt dans le modèle (merge sans --stack)</translation>
    </message>
    <message>
        <source>%1 is there again, but has no model &quot;%2&quot; any more; choose one of its list</source>
        <translation>%1 est de retour, mais n&apos;a plus de modèle &quot;%2&quot; ; choisissez-en un dans sa liste</translation>
    </message>
    <message>
        <source>%1: the key is still there (%2); delete the file</source>
        <translation>%1 : la clé est encore là (%2) ; supprimez le fichier</translation>
    </message>
    <message>
        <source>%1: %2 has the file name %3, which %4; nothing was fetched; check the repository&apos;s name, or ask its owner to rename the file</source>
        <translation>%1 : %2 a le nom de fichier %3, qui %4 ; rien n’a été téléchargé ; vérifiez le nom du dépôt, ou demandez à son propriétaire de renommer le fichier</translation>
    </message>
    <message>
        <source>%1: its list of the files of %2 %3; nothing was fetched</source>
        <translation>%1 : sa liste des fichiers de %2 %3 ; rien n&apos;a été récupéré</translation>
    </message>
    <message>
        <source>is none (&quot;Data&quot; with &quot;Files&quot;)</source>
        <translation>n&apos;en est pas une (« Data » avec « Files »)</translation>
    </message>
    <message>
        <source>%1 has no list of the files of %2 (%3); check the name and the revision</source>
        <translation>%1 n&apos;a pas de liste des fichiers de %2 (%3) ; vérifiez le nom et la révision</translation>
    </message>
    <message>
        <source>%1: models of ModelScope come as plain files, because the hub&apos;s cache has no place for them; name a folder with --to</source>
        <translation>%1 : les modèles de ModelScope arrivent comme simples fichiers, car le cache du hub n&apos;a pas de place pour eux ; nommez un dossier avec --to</translation>
    </message>
    <message>
        <source>the system starts no more threads: this container or control group may have %1 of them (pids.max); raise that limit, or end other programs in it</source>
        <translation>le système ne démarre plus de threads : ce conteneur ou groupe de contrôle peut en avoir %1 (pids.max) ; relevez cette limite ou fermez d’autres programmes qui s’y trouvent</translation>
    </message>
    <message>
        <source>the system starts no more threads: this user may have %1 of them, all programs together (ulimit -u); raise that limit, or end other programs</source>
        <translation>le système ne démarre plus de threads : cet utilisateur peut en avoir %1, tous programmes confondus (ulimit -u) ; relevez cette limite ou fermez d’autres programmes</translation>
    </message>
    <message>
        <source>the system starts no more threads; end other programs, or raise the limit on them (ulimit -u, pids.max of a container)</source>
        <translation>le système ne démarre plus de threads ; fermez d’autres programmes ou relevez leur limite (ulimit -u, pids.max d’un conteneur)</translation>
    </message>
    <message>
        <source>the assistant&apos;s files do not hold this tensor (they hold %1 of the %2 that its config.json implies); download the assistant again</source>
        <translation>les fichiers de l’assistant ne contiennent pas ce tenseur (ils en contiennent %1 sur les %2 qu’implique son config.json) ; téléchargez l’assistant de nouveau</translation>
    </message>
    <message>
        <source>WebP header: an animation without a whole frame</source>
        <translation>En-tête WebP : une animation sans image complète</translation>
    </message>
    <message>
        <source>WebP header: the first frame does not lie within the picture</source>
        <translation>En-tête WebP : la première image n’est pas à l’intérieur du cadre</translation>
    </message>
    <message>
        <source>%1 (%2) does not answer; restart the program, and the machine if that does not help.</source>
        <translation>%1 (%2) ne répond pas ; redémarrez le programme, puis l’ordinateur si cela ne suffit pas.</translation>
    </message>
    <message>
        <source>%1 (%2) has compute capability %3; Belfry&apos;s kernels need %4 (Turing) or newer, so this card is not used.</source>
        <translation>%1 (%2) a la capacité de calcul %3 ; les noyaux de Belfry demandent %4 (Turing) ou plus récent, cette carte n’est donc pas utilisée.</translation>
    </message>
    <message>
        <source>%1 (%2) is lost to this process since %3; start Belfry again to use it.</source>
        <translation>%1 (%2) est perdue pour cette exécution de Belfry (%3) ; redémarrez Belfry pour l’utiliser.</translation>
    </message>
    <message>
        <source>%1 (its layer reads another layer&apos;s keys and values)</source>
        <translation>%1 (sa couche lit les clés et valeurs d’une autre)</translation>
    </message>
    <message>
        <source>%1 does not answer the driver (%2); restart the machine to use this card.</source>
        <translation>%1 ne répond pas au pilote (%2) ; redémarrez l’ordinateur pour utiliser cette carte.</translation>
    </message>
    <message>
        <source>%1 given by %2 has no effect: lm_head is the table of embed_tokens; give it to %3, or ask for two copies with &quot;duplicate_tied&quot;: true</source>
        <translation>%1 donné par %2 est sans effet : lm_head est la table de embed_tokens ; donnez-le à %3, ou demandez deux copies avec &quot;duplicate_tied&quot;: true</translation>
    </message>
    <message>
        <source>%1 has no effect: what is stored on disk stays in the model&apos;s own files, which need no more room</source>
        <translation>%1 est sans effet : ce qui est sur disque reste dans les fichiers du modèle, qui ne demandent pas plus de place</translation>
    </message>
    <message>
        <source>%1 (its chat template is not known)</source>
        <translation>%1 (le modèle de conversation qu’il contient n’est pas connu)</translation>
    </message>
    <message>
        <source>%1 (the usual defaults of such models are used instead)</source>
        <translation>%1 (les réglages usuels de tels modèles servent à leur place)</translation>
    </message>
    <message>
        <source>%1 concerns training only and is ignored</source>
        <translation>%1 ne concerne que l’entraînement et est ignoré</translation>
    </message>
    <message>
        <source>%1 in %2: embedding tables and the head stay unquantized there</source>
        <translation>%1 en %2 : les tables de plongements et la tête y restent non quantifiées</translation>
    </message>
    <message>
        <source>%1 in its folder has tokens that the model&apos;s tokenizer lacks: %2. Prompts are cut with the model&apos;s tokenizer, these into several tokens, so that the adapter does not see what it was trained on; a copy of the model&apos;s folder with the adapter&apos;s tokenizer.json cuts them rightly</source>
        <translation>%1 dans son dossier a des tokens qui manquent au tokenizer du modèle : %2. Les invites sont découpées avec le tokenizer du modèle, ceux-ci en plusieurs tokens, si bien que l’adaptateur ne voit pas ce sur quoi il a été entraîné ; une copie du dossier du modèle avec le tokenizer.json de l’adaptateur les découpe correctement</translation>
    </message>
    <message>
        <source>%1 is false in adapter_config.json</source>
        <translation>%1 est false dans adapter_config.json</translation>
    </message>
    <message>
        <source>%1 (as built)</source>
        <translation>%1 (à la compilation)</translation>
    </message>
    <message>
        <source>%1 (this machine runs %2)</source>
        <translation>%1 (cette machine exécute %2)</translation>
    </message>
    <message>
        <source>%1 free now</source>
        <translation>%1 libres maintenant</translation>
    </message>
    <message>
        <source>%1: frees %2, costs %3</source>
        <translation>%1 : libère %2, coûte %3</translation>
    </message>
    <message>
        <source>%1: frees %2 (enough by itself), costs %3</source>
        <translation>%1 : libère %2 (cela suffit), coûte %3</translation>
    </message>
    <message>
        <source>%1 (computed on %2)</source>
        <translation>%1 (calcul sur %2)</translation>
    </message>
    <message>
        <source>move %1 to %2</source>
        <translation>placer %1 sur %2</translation>
    </message>
    <message>
        <source>move %1 and %2 to %3</source>
        <translation>placer %1 et %2 sur %3</translation>
    </message>
    <message>
        <source>%1, with %2 kept as a copy of its own (&quot;%2&quot;: {&quot;store&quot;: &quot;%3&quot;, &quot;compute&quot;: &quot;%4&quot;, &quot;duplicate_tied&quot;: true})</source>
        <translation>%1, en gardant une copie à part de %2 (&quot;%2&quot;: {&quot;store&quot;: &quot;%3&quot;, &quot;compute&quot;: &quot;%4&quot;, &quot;duplicate_tied&quot;: true})</translation>
    </message>
    <message>
        <source>use --head int8</source>
        <translation>prendre --head int8</translation>
    </message>
    <message>
        <source>use --head int8 and %1</source>
        <translation>prendre --head int8 et %1</translation>
    </message>
    <message>
        <source>use --quant %1</source>
        <translation>prendre --quant %1</translation>
    </message>
    <message>
        <source>use a context of %1 tokens</source>
        <translation>prendre un contexte de %1 jetons</translation>
    </message>
    <message>
        <source>use --prefill-chunk %1</source>
        <translation>prendre --prefill-chunk %1</translation>
    </message>
    <message>
        <source>use --image-tokens %1</source>
        <translation>prendre --image-tokens %1</translation>
    </message>
    <message>
        <source>nothing measurable</source>
        <translation>rien de mesurable</translation>
    </message>
    <message>
        <source>nothing measurable (one row per token)</source>
        <translation>rien de mesurable (une ligne par jeton)</translation>
    </message>
    <message>
        <source>nothing measurable (one row of %1 per token)</source>
        <translation>rien de mesurable (une ligne de %1 par jeton)</translation>
    </message>
    <message>
        <source>one read of %1 per token</source>
        <translation>une lecture de %1 par jeton</translation>
    </message>
    <message>
        <source>one read of the files per image or clip</source>
        <translation>une lecture des fichiers par image ou enregistrement</translation>
    </message>
    <message>
        <source>about %1 per image</source>
        <translation>environ %1 par image</translation>
    </message>
    <message>
        <source>about %1 per 10 s of sound</source>
        <translation>environ %1 pour 10 s de son</translation>
    </message>
    <message>
        <source>about %1 per token</source>
        <translation>environ %1 par jeton</translation>
    </message>
    <message>
        <source>memory of the conversation</source>
        <translation>de la mémoire de la conversation</translation>
    </message>
    <message>
        <source>time until a long prompt is read</source>
        <translation>du temps avant qu’une longue question soit lue</translation>
    </message>
    <message>
        <source>detail of large pictures</source>
        <translation>des détails des grandes images</translation>
    </message>
    <message>
        <source>some accuracy; it is faster</source>
        <translation>un peu de précision ; c’est plus rapide</translation>
    </message>
    <message>
        <source>some accuracy of the last layer; it is faster</source>
        <translation>un peu de précision de la dernière couche ; c’est plus rapide</translation>
    </message>
    <message>
        <source>a little more accuracy</source>
        <translation>un peu plus de précision</translation>
    </message>
    <message>
        <source>hardly any accuracy</source>
        <translation>presque aucune précision</translation>
    </message>
    <message>
        <source>%1 is &quot;%2&quot;: a model of another kind; Belfry runs Gemma 4 (E2B, E4B, 12B, 26B-A4B, 31B) and models of Llama&apos;s form (llama, mistral)</source>
        <translation>%1 est &quot;%2&quot; : un modèle d’un autre type ; Belfry exécute Gemma 4 (E2B, E4B, 12B, 26B-A4B, 31B) et des modèles de la forme de Llama (llama, mistral)</translation>
    </message>
    <message>
        <source>%1 is &quot;%2&quot;: a speculative-decoding assistant, not a model to chat with; open the model it belongs to</source>
        <translation>%1 est &quot;%2&quot; : un assistant de décodage spéculatif, pas un modèle pour converser ; ouvrez le modèle auquel il appartient</translation>
    </message>
    <message>
        <source>%1 is a file, not a folder; %2</source>
        <translation>%1 est un fichier, pas un dossier ; %2</translation>
    </message>
    <message>
        <source>%1 is a file; choose its folder: %2</source>
        <translation>%1 est un fichier ; choisissez son dossier : %2</translation>
    </message>
    <message>
        <source>%1 is a model in the form of %2; Belfry runs the model as it was published: choose the Hugging Face folder with config.json and .safetensors files</source>
        <translation>%1 est un modèle sous la forme de %2 ; Belfry fait tourner le modèle tel qu’il a été publié : choisissez le dossier Hugging Face avec config.json et les fichiers .safetensors</translation>
    </message>
    <message>
        <source>%1 is empty; %2</source>
        <translation>%1 est vide ; %2</translation>
    </message>
    <message>
        <source>%1 may not be looked into; ask its owner for the right to read it</source>
        <translation>Vous n’avez pas le droit de regarder dans %1 ; demandez à son propriétaire le droit de le lire</translation>
    </message>
    <message>
        <source>choose the folder that holds a Hugging Face model: config.json and .safetensors files</source>
        <translation>choisissez le dossier qui contient un modèle Hugging Face : config.json et des fichiers .safetensors</translation>
    </message>
    <message>
        <source>copy the missing files beside the others, or get the model again</source>
        <translation>copiez les fichiers manquants à côté des autres, ou obtenez le modèle de nouveau</translation>
    </message>
    <message>
        <source>is a GGUF file: give the file itself, as the model or the adapter that it is; a projector (mmproj) goes with its model</source>
        <translation>est un fichier GGUF : donnez le fichier lui-même, comme le modèle ou l’adaptateur qu’il est ; un projecteur (mmproj) va avec son modèle</translation>
    </message>
    <message>
        <source>the tensor %1 is stored as %2; F32, F16 or BF16 are read for it: convert the adapter with --outtype f16</source>
        <translation>le tenseur %1 est stocké en %2 ; F32, F16 ou BF16 sont lus pour lui : convertissez l’adaptateur avec --outtype f16</translation>
    </message>
    <message>
        <source>the tensor %1 belongs to none of a model&apos;s; expected the name of one with .lora_a or .lora_b behind it. Convert the adapter again, or give its PEFT folder</source>
        <translation>le tenseur %1 n’appartient à aucun d’un modèle ; on attend le nom d’un de ceux-ci suivi de .lora_a ou .lora_b. Convertissez à nouveau l’adaptateur, ou donnez son dossier PEFT</translation>
    </message>
    <message>
        <source>the adapter was made for prompts that begin with %1</source>
        <translation>l’adaptateur a été fait pour des invites qui commencent par %1</translation>
    </message>
    <message>
        <source>%1 is a GGUF file, whose converter keeps plain LoRA alone: of an adapter with rsLoRA or an alpha_pattern only the PEFT folder has the right strengths</source>
        <translation>%1 est un fichier GGUF, dont le convertisseur ne garde que la LoRA simple : d’un adaptateur avec rsLoRA ou un alpha_pattern, seul le dossier PEFT a les bonnes forces</translation>
    </message>
    <message>
        <source>adapter.lora.alpha is %1, beyond 1e9 in size; the file is damaged</source>
        <translation>adapter.lora.alpha vaut %1, au-delà de 1e9 en valeur absolue ; le fichier est endommagé</translation>
    </message>
    <message>
        <source>was made for a model of the architecture %1, this one is %2; get the adapter that was made for this model</source>
        <translation>a été fait pour un modèle de l’architecture %1, celui-ci est %2 ; obtenez l’adaptateur fait pour ce modèle</translation>
    </message>
    <message>
        <source>is an activated LoRA (aLoRA), which acts behind certain words alone; Belfry runs plain LoRA</source>
        <translation>est une LoRA activée (aLoRA), qui n’agit que derrière certains mots ; Belfry exécute la LoRA simple</translation>
    </message>
    <message>
        <source>is an adapter of the kind %1; Belfry runs &quot;lora&quot;</source>
        <translation>est un adaptateur du genre %1 ; Belfry exécute « lora »</translation>
    </message>
    <message>
        <source>is a model, not an adapter. Open it as the model</source>
        <translation>est un modèle, pas un adaptateur. Ouvrez-le comme modèle</translation>
    </message>
    <message>
        <source>is a projector (mmproj), not an adapter; give it with its model</source>
        <translation>est un projecteur (mmproj), pas un adaptateur ; donnez-le avec son modèle</translation>
    </message>
    <message>
        <source>%1, but %2 is; if that is the adapter, give the file</source>
        <translation>%1, mais %2 y est ; si c’est l’adaptateur, donnez le fichier</translation>
    </message>
    <message>
        <source>is a file of PyTorch&apos;s, which can run code when it is opened, so Belfry never opens one; get the .safetensors files of the model, or convert it once with transformers (save_pretrained)</source>
        <translation>est un fichier de PyTorch, qui peut exécuter du code à l&apos;ouverture, c&apos;est pourquoi Belfry n&apos;en ouvre jamais ; procurez-vous les fichiers .safetensors du modèle, ou convertissez-le une fois avec transformers (save_pretrained)</translation>
    </message>
    <message>
        <source>is an archive; unpack it and choose the folder that comes out</source>
        <translation>est une archive ; décompressez-la et choisissez le dossier obtenu</translation>
    </message>
    <message>
        <source>%1: what stands for %2 has %3, at most %4 are read; get the file of another converter</source>
        <translation>%1 : ce qui tient lieu de %2 fait %3, %4 au plus sont lus ; prenez le fichier d’un autre convertisseur</translation>
    </message>
    <message>
        <source>%1: holds nothing that stands for %2; get the file of another converter</source>
        <translation>%1 : ne contient rien qui tienne lieu de %2 ; prenez le fichier d’un autre convertisseur</translation>
    </message>
    <message>
        <source>%1: the file was cut short; download it again</source>
        <translation>%1 : le fichier est tronqué ; téléchargez-le à nouveau</translation>
    </message>
    <message>
        <source>get the mmproj file of the model&apos;s own repository</source>
        <translation>prenez le fichier mmproj du dépôt du modèle lui-même</translation>
    </message>
    <message>
        <source>%1 beside the model fits</source>
        <translation>%1, à côté du modèle, convient</translation>
    </message>
    <message>
        <source>%1: belongs to another model: its features are %2 wide, %3 is %4 wide; %5</source>
        <translation>%1 : appartient à un autre modèle : ses caractéristiques ont une largeur de %2, %3 de %4 ; %5</translation>
    </message>
    <message>
        <source>%1: is not a projector (mmproj); %2</source>
        <translation>%1 : n’est pas un projecteur (mmproj) ; %2</translation>
    </message>
    <message>
        <source>%1: models of its architecture take no projector; leave --mmproj out</source>
        <translation>%1 : les modèles de cette architecture n’ont pas de projecteur ; omettez --mmproj</translation>
    </message>
    <message>
        <source>%1: is not a GGUF file; --mmproj goes with one</source>
        <translation>%1 : n’est pas un fichier GGUF ; --mmproj va avec un tel fichier</translation>
    </message>
    <message>
        <source>%1: the tensor %2 is missing or is no table; the file is damaged or holds another kind of model</source>
        <translation>%1 : le tenseur %2 manque ou n’est pas un tableau ; le fichier est endommagé ou contient un autre genre de modèle</translation>
    </message>
    <message>
        <source>%1: rope_freqs.weight is not a list of %2 numbers, ones followed by values of at least 1e29; other rotations are not implemented</source>
        <translation>%1 : rope_freqs.weight n’est pas une liste de %2 nombres, des uns suivis de valeurs d’au moins 1e29 ; d’autres rotations ne sont pas prises en charge</translation>
    </message>
    <message>
        <source>%1: some full layers have a tensor attn_v.weight and others do not; the file is damaged</source>
        <translation>%1 : certaines couches pleines ont un tenseur attn_v.weight, d’autres non ; le fichier est endommagé</translation>
    </message>
    <message>
        <source>gives layer %1 a width of %2, expected %3</source>
        <translation>donne à la couche %1 une largeur de %2, attendu %3</translation>
    </message>
    <message>
        <source>is %1, expected a positive number</source>
        <translation>vaut %1, attendu un nombre positif</translation>
    </message>
    <message>
        <source>gives the layers different widths, which is not implemented</source>
        <translation>donne aux couches des largeurs différentes, ce qui n’est pas pris en charge</translation>
    </message>
    <message>
        <source>is %1; models with experts of this architecture (Mixtral) are not implemented</source>
        <translation>vaut %1 ; les modèles à experts de cette architecture (Mixtral) ne sont pas pris en charge</translation>
    </message>
    <message>
        <source>%1: the key %2 %3</source>
        <translation>%1 : la clé %2 %3</translation>
    </message>
    <message>
        <source>is missing; the file is damaged or was written by a converter that Belfry does not know</source>
        <translation>manque ; le fichier est endommagé ou vient d’un convertisseur que Belfry ne connaît pas</translation>
    </message>
    <message>
        <source>has %1 values for %2 layers, or one that is out of range</source>
        <translation>a %1 valeurs pour %2 couches, ou une valeur hors limites</translation>
    </message>
    <message>
        <source>%1: is a LoRA adapter; open the model that it was made for and add it there</source>
        <translation>%1 : est un adaptateur LoRA ; ouvrez le modèle pour lequel il est fait et ajoutez-le là</translation>
    </message>
    <message>
        <source>%1: is a projector, which holds the towers for pictures and sound; open the model beside it</source>
        <translation>%1 : est un projecteur, qui contient les tours pour les images et le son ; ouvrez le modèle à côté</translation>
    </message>
    <message>
        <source>%1: its architecture is %2; Belfry runs gemma4 and llama</source>
        <translation>%1 : son architecture est %2 ; Belfry exécute gemma4 et llama</translation>
    </message>
    <message>
        <source>is %1, expected at most %2</source>
        <translation>vaut %1, attendu %2 au plus</translation>
    </message>
    <message>
        <source>is %1 of heads of %2; only whole heads of an even size rotate</source>
        <translation>vaut %1 pour des têtes de %2 ; seules des têtes entières de taille paire tournent</translation>
    </message>
    <message>
        <source>is missing or no list; convert the model with a current llama.cpp</source>
        <translation>manque ou n’est pas une liste ; convertissez le modèle avec un llama.cpp récent</translation>
    </message>
    <message>
        <source>holds other values than true and false, or 1 and 0</source>
        <translation>contient d’autres valeurs que vrai et faux, ou 1 et 0</translation>
    </message>
    <message>
        <source>ends with a sliding layer, which is not implemented</source>
        <translation>finit par une couche glissante, ce qui n’est pas pris en charge</translation>
    </message>
    <message>
        <source>gives layer %1 %2 heads and %3 for keys and values, which is not implemented</source>
        <translation>donne à la couche %1 %2 têtes et %3 pour les clés et valeurs, ce qui n’est pas pris en charge</translation>
    </message>
    <message>
        <source>%1: the tensor %2 is not one that Belfry knows; it may change what the model computes, so the file is not opened</source>
        <translation>%1 : Belfry ne connaît pas le tenseur %2 ; il peut changer ce que le modèle calcule, le fichier n’est donc pas ouvert</translation>
    </message>
    <message>
        <source>%1: the tensor %2 has a shape that its metadata do not allow; the file is damaged</source>
        <translation>%1 : le tenseur %2 a une forme que les métadonnées n’admettent pas ; le fichier est endommagé</translation>
    </message>
    <message>
        <source>%1: the tensor %2 is stored as %3; projectors with F32, F16 or BF16 for it are read</source>
        <translation>%1 : le tenseur %2 est en %3 ; les projecteurs qui l’ont en F32, F16 ou BF16 sont lus</translation>
    </message>
    <message>
        <source>%1: holds the tensor %2 twice, by itself and within another; the file is damaged</source>
        <translation>%1 : contient le tenseur %2 deux fois, seul et dans un autre ; le fichier est endommagé</translation>
    </message>
    <message>
        <source>%1: its tokenizer is %2 with the rules %3; Belfry has gemma4, for llama models llama, and gpt2 with gpt-2, smollm or llama-bpe</source>
        <translation>%1 : son tokenizer est %2 avec les règles %3 ; Belfry a gemma4, llama pour les modèles llama, et gpt2 avec gpt-2, smollm ou llama-bpe</translation>
    </message>
    <message>
        <source>%1: %2; the file is damaged, download it again</source>
        <translation>%1 : %2 ; le fichier est endommagé, téléchargez-le à nouveau</translation>
    </message>
    <message>
        <source>it has no tokens or no merges</source>
        <translation>il n’a pas de jetons ou pas de fusions</translation>
    </message>
    <message>
        <source>it has %1 tokens, its table has rows for %2</source>
        <translation>il a %1 jetons, son tableau a des lignes pour %2</translation>
    </message>
    <message>
        <source>it has %1 tokens and %2 kinds of them</source>
        <translation>il a %1 jetons et %2 genres de jetons</translation>
    </message>
    <message>
        <source>it has %1 tokens and %2 scores of them</source>
        <translation>il a %1 jetons et %2 scores de jetons</translation>
    </message>
    <message>
        <source>its words can be made in more than %1 ways</source>
        <translation>ses mots peuvent être formés de plus de %1 façons</translation>
    </message>
    <message>
        <source>its tokens take more than %1</source>
        <translation>ses jetons prennent plus de %1</translation>
    </message>
    <message>
        <source>a merge is not two tokens</source>
        <translation>une fusion n’est pas faite de deux jetons</translation>
    </message>
    <message>
        <source>its merges take more than %1</source>
        <translation>ses fusions prennent plus de %1</translation>
    </message>
    <message>
        <source>ends within %1: %2 bytes are needed at byte %3 of %4; the file was cut short, download it again</source>
        <translation>finit au milieu de %1 : %2 octets sont nécessaires à l’octet %3 sur %4 ; le fichier est tronqué, téléchargez-le à nouveau</translation>
    </message>
    <message>
        <source>its header takes more than %1; is this a model?</source>
        <translation>son en-tête prend plus de %1 ; est-ce un modèle ?</translation>
    </message>
    <message>
        <source>%1 at byte %2 has a length of %3 bytes, at most %4 are allowed</source>
        <translation>%1 à l’octet %2 a une longueur de %3 octets, %4 au plus sont permis</translation>
    </message>
    <message>
        <source>%1 at byte %2 is empty or not a text in UTF-8</source>
        <translation>%1 à l’octet %2 est vide ou n’est pas un texte en UTF-8</translation>
    </message>
    <message>
        <source>does not begin with &quot;GGUF&quot;; is this a GGUF file?</source>
        <translation>ne commence pas par &quot;GGUF&quot; ; est-ce un fichier GGUF ?</translation>
    </message>
    <message>
        <source>was written for a big-endian machine; get the usual file</source>
        <translation>a été écrit pour une machine gros-boutiste ; prenez le fichier habituel</translation>
    </message>
    <message>
        <source>has version %1 of the GGUF format, Belfry reads 2 and 3; convert the model with a current llama.cpp</source>
        <translation>a la version %1 du format GGUF, Belfry lit 2 et 3 ; convertissez le modèle avec un llama.cpp récent</translation>
    </message>
    <message>
        <source>says that it has %1 tensors and %2 metadata entries; a file of %3 bytes cannot hold them</source>
        <translation>annonce %1 tenseurs et %2 métadonnées ; un fichier de %3 octets ne peut les contenir</translation>
    </message>
    <message>
        <source>the key %1 has the unknown type %2</source>
        <translation>la clé %1 a le type inconnu %2</translation>
    </message>
    <message>
        <source>the key %1 is a list of lists</source>
        <translation>la clé %1 est une liste de listes</translation>
    </message>
    <message>
        <source>the key %1 is a list of %2 elements; at most %3 are read, and no more than the file has bytes for</source>
        <translation>la clé %1 est une liste de %2 éléments ; %3 au plus sont lus, et pas plus que le fichier n’a d’octets</translation>
    </message>
    <message>
        <source>the key %1 stands there twice</source>
        <translation>la clé %1 y figure deux fois</translation>
    </message>
    <message>
        <source>the key %1 is not a power of two from 8 to 65536</source>
        <translation>la clé %1 n’est pas une puissance de deux de 8 à 65536</translation>
    </message>
    <message>
        <source>the tensor %1 has %2 dimensions, at most 4 are allowed</source>
        <translation>le tenseur %1 a %2 dimensions, 4 au plus sont permises</translation>
    </message>
    <message>
        <source>the tensor %1 has an impossible shape: dimension %2 is %3</source>
        <translation>le tenseur %1 a une forme impossible : la dimension %2 vaut %3</translation>
    </message>
    <message>
        <source>the tensor %1 begins at byte %2 of the data, which is no multiple of %3</source>
        <translation>le tenseur %1 commence à l’octet %2 des données, qui n’est pas un multiple de %3</translation>
    </message>
    <message>
        <source>the tensor %1 is stored as %2, which Belfry does not read; get a file in Q4_0, Q4_K_M, Q5_K_M, Q6_K, Q8_0 or BF16</source>
        <translation>le tenseur %1 est en %2, que Belfry ne lit pas ; prenez un fichier en Q4_0, Q4_K_M, Q5_K_M, Q6_K, Q8_0 ou BF16</translation>
    </message>
    <message>
        <source>the tensor %1 has rows of %2 values, %3 has blocks of %4</source>
        <translation>le tenseur %1 a des lignes de %2 valeurs, %3 a des blocs de %4</translation>
    </message>
    <message>
        <source>the tensor %1 is larger than any file</source>
        <translation>le tenseur %1 est plus grand que tout fichier</translation>
    </message>
    <message>
        <source>the tensor %1 stands there twice</source>
        <translation>le tenseur %1 y figure deux fois</translation>
    </message>
    <message>
        <source>the tensors %1 and %2 lie in the same bytes</source>
        <translation>les tenseurs %1 et %2 occupent les mêmes octets</translation>
    </message>
    <message>
        <source>the tensor %1 lies behind the end of any file</source>
        <translation>le tenseur %1 se trouve après la fin de tout fichier</translation>
    </message>
    <message>
        <source>the tensor %1 ends at byte %2, the file has %3; it was cut short, download it again</source>
        <translation>le tenseur %1 finit à l’octet %2, le fichier en a %3 ; il est tronqué, téléchargez-le à nouveau</translation>
    </message>
    <message>
        <source>the key %1 is not %2; the file is damaged or was written by a converter that Belfry does not know</source>
        <translation>la clé %1 n’est pas %2 ; le fichier est endommagé ou vient d’un convertisseur que Belfry ne connaît pas</translation>
    </message>
    <message>
        <source>text in UTF-8</source>
        <translation>du texte en UTF-8</translation>
    </message>
    <message>
        <source>a list of whole numbers</source>
        <translation>une liste de nombres entiers</translation>
    </message>
    <message>
        <source>a list of finite 32-bit numbers</source>
        <translation>une liste de nombres finis de 32 bits</translation>
    </message>
    <message>
        <source>a list of texts</source>
        <translation>une liste de textes</translation>
    </message>
    <message>
        <source>says that it is number %1 (from 0) of %2 parts, of which there may be %3; the file is damaged, download it again</source>
        <translation>dit être le numéro %1 (à partir de 0) de %2 parties, dont il peut y avoir %3 ; le fichier est endommagé, téléchargez-le à nouveau</translation>
    </message>
    <message>
        <source>is part %1 of %2 of the model and is not in the folder; download it beside %3</source>
        <translation>est la partie %1 sur %2 du modèle et n’est pas dans le dossier ; téléchargez-la à côté de %3</translation>
    </message>
    <message>
        <source>says that it is part %1 of %2, its name says %3; the parts belong to different downloads</source>
        <translation>dit être la partie %1 sur %2, son nom dit %3 ; les parties viennent de téléchargements différents</translation>
    </message>
    <message>
        <source>the parts up to this one hold more than %1 tensors; is this a model?</source>
        <translation>les parties jusqu’à celle-ci contiennent plus de %1 tenseurs ; est-ce un modèle ?</translation>
    </message>
    <message>
        <source>says that its %1 parts hold %2 tensors, they hold %3</source>
        <translation>dit que ses %1 parties contiennent %2 tenseurs, elles en contiennent %3</translation>
    </message>
    <message>
        <source>is part %1 of %2, but its name does not end as theirs do (as model-00001-of-00003.gguf); give it its own name again</source>
        <translation>est la partie %1 sur %2, mais son nom ne finit pas comme il le faut (comme model-00001-of-00003.gguf) ; rendez-lui son nom</translation>
    </message>
    <message>
        <source>%1: the scale of block %2 is not a finite number; the file is damaged, download it again</source>
        <translation>%1 : l’échelle du bloc %2 n’est pas un nombre fini ; le fichier est endommagé, téléchargez-le à nouveau</translation>
    </message>
</context>
</TS>
